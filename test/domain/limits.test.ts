/** The numbers of the contract: in one place, and each of them asked for somewhere. */
import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { limits, pages } from "../../src/domain/limits.ts"

const root = join(import.meta.dirname, "../..")
const program = ["src", "http", "actors", "machines"]
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && file !== "domain/limits.ts")
      .map((file) => readFileSync(join(root, room, file), "utf8"))
  )
  .join("\n")

it.each(Object.keys(limits))("%s is held to somewhere", (name) =>
  assert.match(program, new RegExp(`limits\\.${name}\\b`))
)

it.each(Object.entries(pages))(
  "the list of %s has a default of at most its most, which is at most 200",
  (name, [usual, most]) => {
    assert.isTrue(usual <= most && most <= 200)
    assert.include(program, `"${name}"`)
  }
)
