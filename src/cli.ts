/**
 * The command `troupe`. Refuses a Node that cannot run it before anything is imported that needs a newer one. What Node
 * compiled of the programs is kept for the next start, beside the packages and not in a folder that other users of the
 * machine share: a start takes half the time, and the process keeps no compiler of TypeScript. Where nothing may be
 * written, nothing is kept.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Troupe needs Node 22.19 or later; this is ${process.versions.node}.\n` +
      "npm start and npm run serve use the Node 26 that npm ci installed; by hand: node_modules/.bin/node src/cli.ts\n"
  )
  process.exitCode = 1
} else {
  // What was compiled with other flags of V8 is not taken.
  await import("./cli/engine.ts")
  const { enableCompileCache } = await import("node:module")
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/troupe`)
  const { run } = await import("./cli/commands.ts")
  run()
}

export {}
