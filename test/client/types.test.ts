import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { committedTypes, makeTypes } from "./types.ts"

it("the client's types are those of the server; `npm run openapi` writes them", async () => {
  assert.strictEqual(readFileSync(committedTypes, "utf8"), await makeTypes())
})
