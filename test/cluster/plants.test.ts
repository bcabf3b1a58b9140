/** A planted bug whose place has gone shows nothing: its nodes do not start. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { faults } from "./faults.ts"
import { plants } from "./plants.ts"

const root = resolve(import.meta.dirname, "../..")

describe("planted bugs", () => {
  it.each(plants.map((plant) => [plant.name, plant] as const))(
    "%s: has its places in the code, and a fault",
    (_, { edits, fault }) => {
      for (const { file, find, put } of edits) {
        const source = readFileSync(join(root, file), "utf8")
        assert.strictEqual(source.split(find).length, 2, `${file} has ${find} once`)
        assert.notStrictEqual(find, put)
      }
      assert.isDefined(faults.find(({ name }) => name.startsWith(fault)))
    }
  )
})
