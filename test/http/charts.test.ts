/** The charts that actors run by, as the interface shows them. */
import { assert, describe, it } from "@effect/vitest"
import { charts } from "../../machines/charts.ts"
import { definitionOf } from "../../machines/definition.ts"
import { chartKinds } from "../../src/domain/chartKinds.ts"
import { threadStatuses } from "../../src/domain/thread.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"

const server = await sharedServer()

interface Named {
  readonly id: string
  readonly parent?: string
}

describe("charts", () => {
  it("are those of the machines, all of them or one, each with a version", async () => {
    const { body } = await server.alpha.get("/v1/charts")
    assert.deepStrictEqual(
      body.charts.map(({ kind }: { readonly kind: string }) => kind),
      [...chartKinds]
    )
    for (const kind of chartKinds) {
      const { chart } = (await server.beta.get(`/v1/charts/${kind}`)).body
      const { version, ...rest } = chart
      assert.deepStrictEqual(rest, { kind, ...definitionOf(charts[kind]) })
      assert.match(version, /^[0-9a-f]{16}$/)
      assert.deepInclude(body.charts, chart)
    }
    const versions = body.charts.map(({ version }: { readonly version: string }) => version)
    assert.strictEqual(new Set(versions).size, chartKinds.length)
  })

  it("have the statuses of threads for the top states of a thread's", async () => {
    const { states } = (await server.alpha.get("/v1/charts/thread")).body.chart
    const top = states.filter(({ parent }: Named) => parent === undefined).map(({ id }: Named) => id)
    assert.sameMembers(top, [...threadStatuses])
  })

  it("of what there is none are not found", async () => {
    for (const kind of ["threads", "Thread", "__proto__", "constructor"])
      assertRefused(await server.alpha.get(`/v1/charts/${kind}`), 404, "not_found")
  })
})
