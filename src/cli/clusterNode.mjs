/** A node of `troupe dev --nodes`: a production node that leaves in order when whoever started it is gone. */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
// The channel alone is no reason to stay.
process.channel?.unref()

// As src/start.mjs does: the cache first.
await import("./compiled.mjs")
const { runCommandLine } = await import("./commands.ts")
runCommandLine()
