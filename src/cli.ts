/**
 * The command `troupe`. Refuses a Node that cannot run it before anything is imported that needs a newer one. What Node
 * compiled of the programs is kept for the next start, beside the packages and not in a folder that other users of the
 * machine share: a start takes half the time, and the process keeps no compiler of TypeScript. Where nothing may be
 * written, nothing is kept.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  const { enableCompileCache } = await import("node:module")
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/troupe`)
  const { run } = await import("./cli/commands.ts")
  run()
}
