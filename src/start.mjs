/**
 * The command `troupe` as people, npm, images and tests start it. It is JavaScript: a Node that is too old for
 * TypeScript can still say so before anything is imported that needs a newer one, and a newer one loads no compiler of
 * TypeScript where the cache holds every module.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  await import("./cli/compiled.mjs")
  const { runCommandLine } = await import("./cli/commands.ts")
  runCommandLine()
}
