/**
 * The command `troupe`. Refuses a Node that cannot run it before anything is imported that needs a newer one. What Node
 * compiled of the programs is kept for the next start, beside the packages and not in a folder that other users of the
 * machine share: a start takes half the time, and the process keeps no compiler of TypeScript. Where nothing may be
 * written, nothing is kept.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  // Before the rest: what was compiled with other flags of V8 is not taken. A command that soon ends would only pay for
  // them.
  if (process.argv.some((word) => word === "dev" || word === "serve")) await import("./cli/engine.ts")
  const { enableCompileCache } = await import("node:module")
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/troupe`)
  const { run } = await import("./cli/commands.ts")
  run()
}
