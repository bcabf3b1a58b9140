/**
 * The command `troupe` as npm, images and tests start it: JavaScript, so that a Node too old for TypeScript says so
 * itself, and a newer one loads no compiler of TypeScript where it finds all of it compiled.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  await import("./cli/compiled.mjs")
  await import("./cli.ts")
}
