/**
 * The command `troupe`. A Node that cannot run it is refused before anything is imported that needs a newer one.
 * `node src/start.mjs` does the same a quarter of a second faster: run by itself, this file is compiled anew each time.
 */
import { refused } from "./cli/lacking.mjs"

if (!refused()) {
  await import("./cli/compiled.mjs")
  const { runCommandLine } = await import("./cli/commands.ts")
  runCommandLine()
}
