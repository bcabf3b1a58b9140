import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { assertRefused as refused } from "./refusals.ts"

const server = await sharedServer()

describe("the catalogue of models", () => {
  it("lists the scripted models as the contract describes them", async () => {
    const { models } = (await server.alpha.get("/v1/models")).body
    const paid = models.find((model: { id: string }) => model.id === "troupe/scripted-paid")
    assert.deepInclude(paid, {
      contextWindow: 1_000_000,
      inputFormats: ["png", "jpeg"],
      pricing: { input: 1, output: 2 },
      status: "available",
      targets: [{ id: "troupe/scripted-paid", provider: "troupe", inputFormats: ["png", "jpeg"] }]
    })
    const ids = models.map((model: { id: string }) => model.id)
    for (const id of ["troupe/scripted", "troupe/scripted-paid", "troupe/scripted-small"]) assert.include(ids, id)
    assert.notProperty(paid, "createdAt")
  })

  it("pages without gaps or repeats", async () => {
    const all = (await server.alpha.get("/v1/models?limit=200")).body.models
    const seen: Array<unknown> = []
    let cursor = ""
    for (;;) {
      const page = (await server.alpha.get(`/v1/models?limit=1${cursor}`)).body
      seen.push(...page.models)
      if (page.nextCursor === undefined) break
      cursor = `&cursor=${page.nextCursor}`
    }
    assert.deepStrictEqual(seen, all)
  })

  it("refuses other limits, forged cursors, unknown parameters and no credential", async () => {
    for (const query of ["limit=0", "limit=201", "cursor=abc.def", "provider=troupe"])
      refused(await server.alpha.get(`/v1/models?${query}`), 400, "invalid_request")
    refused(await server.anonymous.get("/v1/models"), 401, "unauthenticated")
    const runner = await server.client(server.workspaces.alpha, { scopes: ["run"] })
    refused(await runner.get("/v1/models"), 403, "permission_denied")
  })
})
