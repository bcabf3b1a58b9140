/**
 * The command `troupe`. Refuses a Node that cannot run it before anything is imported that needs a newer one.
 * `node src/start.mjs` is the same command, a quarter of a second faster: it finds this file compiled too.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  await import("./cli/compiled.mjs")
  const { run } = await import("./cli/commands.ts")
  run()
}
