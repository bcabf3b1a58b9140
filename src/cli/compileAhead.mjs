/**
 * `npm run compile`: loads what a node runs, so that Node keeps it compiled. An image does it once, and no node of it has
 * the compiler of TypeScript in memory, some 25 MiB. It is JavaScript, as compiled.mjs is.
 */
import { refused } from "./lacking.mjs"

if (!refused()) {
  await import("./compiled.mjs")
  await import("./commands.ts")
  await import("./serve.ts")
  await import("./node.ts")
  await import("../main.ts")
  // A node loads it after engine.ts, and compiles it then: V8 takes nothing that was compiled with other flags. What is
  // kept of it is TypeScript without its types.
  await import("../tools/mcp/Session.ts")
  // Last: it has Node write what it keeps, and then changes V8's flags.
  await import("./engine.ts")
}
