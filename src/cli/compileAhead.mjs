/**
 * `npm run compile`: loads what a node runs, so that Node keeps it compiled. An image does it once, and no start of it
 * compiles, or has the compiler of TypeScript in memory, some 26 MiB. It is JavaScript, as compiled.mjs is.
 */
import { refused } from "./lacking.mjs"

if (!refused()) {
  await import("./compiled.mjs")
  await import("./commands.ts")
  await import("./serve.ts")
  await import("./node.ts")
  await import("../main.ts")
  // What a node loads with the first server of tools and the first real model.
  await import("../tools/mcp/Session.ts")
  for (const provider of ["anthropic", "google", "openai", "openai-compatible"]) await import(`@ai-sdk/${provider}`)
  // Last, as in a node: with its settings V8 would compile for other ones than a start asks for.
  await import("./engine.ts")
}
