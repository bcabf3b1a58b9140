/** What a start has to load. */
import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { root, textOf } from "./repository.ts"

describe("the programs", () => {
  it("import the parts of @effect/platform-node, not its index: that one brings a client of Redis along, twice as many modules as all else", () => {
    const files = globSync("{src,http,actors,machines}/**/*.ts", { cwd: root })
    assert.isAbove(files.length, 100)
    assert.deepStrictEqual(
      files.filter((file) => /from "@effect\/platform-node"/.test(textOf(file))),
      []
    )
  })
})
