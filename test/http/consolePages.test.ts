/** What the interface has, the console shows. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { HttpApi } from "effect/http-api"
import { Api } from "../../http/Api.ts"

const root = join(import.meta.dirname, "../..")
const sources = globSync(["console/src/**/*.{ts,tsx}", "src/client/follow.ts"], { cwd: root })
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n")

/** A path of the contract as the console's sources write it: in quotes, or before the query in a template. */
const isAsked = (path: string) => {
  const written = path.replaceAll(/:(\w+)/g, "{$1}")
  return [`"${written}"`, `\`${written}\``, `\`${written}?`].some((text) => sources.includes(text))
}

const pathsByGroup = () => {
  const paths = new Map<string, Array<string>>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      paths.set(group.identifier, [...(paths.get(group.identifier) ?? []), endpoint.path])
    }
  })
  return paths
}

describe("the console", () => {
  it("has a page for every group of the interface", () => {
    const groups = [...pathsByGroup()]
    assert.isAbove(groups.length, 20)
    assert.deepStrictEqual(
      groups.filter(([, paths]) => !paths.some(isAsked)).map(([group]) => group),
      []
    )
  })
})
