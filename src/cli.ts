/** The command `troupe`. Refuses a Node that cannot run it before anything is imported that needs a newer one. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Troupe needs Node 22.19 or later; this is ${process.versions.node}.\n` +
      "npm start and npm run serve use the Node 26 that npm ci installed; by hand: node_modules/.bin/node src/cli.ts\n"
  )
  process.exitCode = 1
} else {
  const { run } = await import("./cli/commands.ts")
  run()
}

export {}
