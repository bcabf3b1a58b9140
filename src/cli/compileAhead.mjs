/**
 * `npm run compile`: loads what a node and the commands of its operator run, so that Node keeps it compiled. An image does
 * it once, and no node of it has the compiler of TypeScript in the memory of its main thread, some 25 MiB. It is
 * JavaScript, as compiled.mjs is.
 */
import { accessSync, constants, readdirSync } from "node:fs"
import { getCompileCacheDir } from "node:module"
import { refused } from "./lacking.mjs"

/** Where Node keeps it; undefined where it cannot. */
const folder = () => {
  try {
    const found = getCompileCacheDir()
    if (found !== undefined) accessSync(found, constants.W_OK)
    return found
  } catch {
    return undefined
  }
}

/** Node names a file by what it is of once that is written, and leaves it under a longer name where it could not be. */
const isWhole = (/** @type {string} */ kept) => !readdirSync(kept).some((name) => name.includes("."))

if (!refused()) {
  await import("./compiled.mjs")
  await import("./commands.ts")
  await import("./keys.ts")
  await import("./doctor.ts")
  await import("./migrate.ts")
  await import("./serve.ts")
  await import("./node.ts")
  await import("../main.ts")
  // A node loads it after engine.ts, and compiles it then: V8 takes nothing that was compiled with other flags. What is
  // kept of it is TypeScript without its types.
  await import("../tools/mcp/Session.ts")
  // Last: it has Node write what it keeps, and then changes V8's flags.
  await import("./engine.ts")
  const kept = folder()
  if (kept !== undefined && isWhole(kept)) console.log(`Compiled into ${kept}.`)
  else if (kept !== undefined) {
    process.exitCode = 1
    console.error(`What was compiled could not all be written into ${kept}: see that the disk has room, and remove it.`)
  } else {
    process.exitCode = 1
    console.error(
      "Nothing was kept: this user cannot write node_modules/.cache/troupe, or Node's compile cache is off."
    )
  }
}
