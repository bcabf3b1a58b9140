import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const profileId = (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile.id

const create = async (fields: Record<string, unknown> = {}) => {
  const made = await server.alpha.post("/v1/agents", { name: "A", profileId, ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.agent
}
describe("creating an agent", () => {
  it("answers 201 with every field, Location and ETag, and the same is read back", async () => {
    const fields = {
      name: "Scout",
      profileId,
      profileVersion: 1,
      description: "two\nlines \u0000 \ud800",
      avatar: "https://example.com/a.png",
      identity: "ann",
      tags: ["a", "b"],
      budget: { limit: 1.5, window: "7d" }
    }
    const made = await server.alpha.post("/v1/agents", fields)
    assert.strictEqual(made.status, 201)
    const { agent } = made.body
    const { createdAt, id, updatedAt, workspaceId, ...rest } = agent
    assert.deepStrictEqual(rest, fields)
    assert.strictEqual(workspaceId, server.workspaces.alpha)
    assert.match(id, /^agt_[0-9a-z]{26}$/)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.strictEqual(updatedAt, createdAt)
    assert.strictEqual(made.headers.get("location"), `/v1/agents/${id}`)
    const read = await server.alpha.get(`/v1/agents/${id}`)
    assert.strictEqual(read.status, 200)
    assert.deepStrictEqual(read.body, made.body)
    assert.strictEqual(read.headers.get("etag"), made.headers.get("etag"))
  })

  it("trims an identity", async () => {
    assert.strictEqual((await create({ identity: "  bo\t" })).identity, "bo")
  })

  const bytes = (n: number) => "é".repeat(Math.floor(n / 2)) + "x".repeat(n % 2)
  const names = (n: number) => Array.from({ length: n }, (_, i) => `t${i}`)
  for (const [field, most, past] of [
    ["name", "😀".repeat(128), "😀".repeat(129)],
    ["description", bytes(4096), bytes(4097)],
    ["avatar", bytes(2048), bytes(2049)],
    ["identity", bytes(512), bytes(513)],
    ["tags", names(32), names(33)],
    ["tags", [bytes(64)], [bytes(65)]],
    ["budget", { limit: 0, window: "total" }, { limit: -0.01, window: "total" }]
  ] as const) {
    it(`accepts ${field} at its limit and refuses it past that`, async () => {
      assert.deepStrictEqual((await create({ [field]: most }))[field], most)
      refused(await server.alpha.post("/v1/agents", { name: "A", profileId, [field]: past }), 400, "invalid_request")
    })
  }

  for (const [what, fields, path] of [
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a blank name", { name: " \t" }, "name"],
    ["a name with a control character", { name: "a\u0007" }, "name"],
    ["a name with a lone surrogate", { name: "a\ud800" }, "name"],
    ["a name that is a number", { name: 7 }, "name"],
    ["no profile", { profileId: undefined }, "profileId"],
    ["an agent's id for a profile", { profileId: absent("agt_") }, "profileId"],
    ["a version of 0", { profileVersion: 0 }, "profileVersion"],
    ["a version of 1.5", { profileVersion: 1.5 }, "profileVersion"],
    ["a version above int32", { profileVersion: 2 ** 31 }, "profileVersion"],
    ["null", { description: null }, "description"],
    ["an empty identity", { identity: "   " }, "identity"],
    ["an identity with a control character", { identity: "a\u0000b" }, "identity"],
    ["an empty tag", { tags: ["a", ""] }, "tags[1]"],
    ["a tag with a line break", { tags: ["a\nb"] }, "tags[0]"],
    ["a tag twice", { tags: ["a", "a"] }, "tags"],
    ["a budget without a window", { budget: { limit: 1 } }, "budget.window"],
    ["a budget with another window", { budget: { limit: 1, window: "1h" } }, "budget.window"],
    ["a budget that is no number", { budget: { limit: "1", window: "24h" } }, "budget.limit"],
    ["an unknown field in the budget", { budget: { limit: 1, window: "24h", spent: 1 } }, "budget.spent"],
    ["an unknown field", { workspaceId: absent("wsp_") }, "workspaceId"]
  ] as const) {
    it(`refuses ${what} with its path`, async () => {
      refusedAt(
        await server.alpha.post("/v1/agents", { name: "A", profileId, ...fields }),
        400,
        "invalid_request",
        path
      )
    })
  }

  it("refuses a profile or version that is not there, and one of another workspace", async () => {
    const post = (fields: object) => server.alpha.post("/v1/agents", { name: "A", profileId, ...fields })
    refusedAt(await post({ profileId: absent("prof_") }), 422, "profile_not_found", "profileId")
    refusedAt(await post({ profileVersion: 2 }), 422, "profile_not_found", "profileVersion")
    refusedAt(await server.beta.post("/v1/agents", { name: "A", profileId }), 422, "profile_not_found", "profileId")
  })

  it("does not keep a refusal for its Idempotency-Key", async () => {
    const headers = { "idempotency-key": fresh("later") }
    refused(
      await server.alpha.post("/v1/agents", { name: "A", profileId: absent("prof_") }, headers),
      422,
      "profile_not_found"
    )
    assert.strictEqual((await server.alpha.post("/v1/agents", { name: "A", profileId }, headers)).status, 201)
  })
})

describe("listing agents", () => {
  it("leaves archived ones out unless asked, and keeps that choice in the cursor", async () => {
    const kept = await create()
    const gone = await create()
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${gone.id}`)).status, 204)
    const ids = async (query: string) =>
      (await server.alpha.get(`/v1/agents?limit=200${query}`)).body.agents.map((agent: { id: string }) => agent.id)
    assert.include(await ids(""), kept.id)
    assert.notInclude(await ids(""), gone.id)
    assert.include(await ids("&includeArchived=true"), gone.id)
    const { nextCursor } = (await server.alpha.get("/v1/agents?limit=1&includeArchived=true")).body
    assert.strictEqual((await server.alpha.get(`/v1/agents?cursor=${nextCursor}`)).status, 200)
    refusedAt(
      await server.alpha.get(`/v1/agents?cursor=${nextCursor}&includeArchived=false`),
      400,
      "invalid_request",
      "cursor"
    )
  })

  for (const [query, code] of [
    ["limit=0", "limit_out_of_range"],
    ["limit=201", "limit_out_of_range"],
    ["limit=1e1", "limit_out_of_range"],
    ["limit=", "limit_out_of_range"],
    ["cursor=x", "invalid_cursor"],
    ["includeArchived=1", "invalid_parameter"],
    ["include_archived=true", "unknown_parameter"],
    ["limit=1&limit=2", "repeated_parameter"]
  ] as const) {
    it(`refuses ?${query}`, async () => {
      const answer = await server.alpha.get(`/v1/agents?${query}`)
      assert.deepStrictEqual([answer.status, answer.body.error, answer.body.code], [400, "invalid_request", code])
    })
  }
})

describe("changing an agent", () => {
  it("keeps what is absent, clears what is null and merges the budget", async () => {
    const { id } = await create({
      description: "d",
      avatar: "a",
      identity: "ann",
      tags: ["x"],
      budget: { limit: 1, window: "24h" }
    })
    const first = (await server.alpha.patch(`/v1/agents/${id}`, { name: "B", budget: { limit: 2 } })).body.agent
    assert.deepStrictEqual([first.name, first.description, first.budget], ["B", "d", { limit: 2, window: "24h" }])
    const { agent } = (
      await server.alpha.patch(`/v1/agents/${id}`, {
        description: null,
        avatar: null,
        identity: null,
        tags: null,
        budget: null,
        profileVersion: null
      })
    ).body
    const { createdAt, updatedAt, ...rest } = agent
    assert.deepStrictEqual(rest, { id, workspaceId: server.workspaces.alpha, profileId, name: "B", tags: [] })
    assert.isTrue(updatedAt >= createdAt)
    assert.deepStrictEqual((await server.alpha.get(`/v1/agents/${id}`)).body.agent, agent)
  })

  it("refuses what would leave an invalid agent", async () => {
    const { id } = await create()
    const patch = (body: unknown) => server.alpha.patch(`/v1/agents/${id}`, body)
    refusedAt(await patch({ name: null }), 400, "invalid_request", "name")
    refusedAt(await patch({ profileId: null }), 400, "invalid_request", "profileId")
    refusedAt(await patch({ budget: { limit: 1 } }), 400, "invalid_request", "budget.window")
    refusedAt(await patch({ id }), 400, "invalid_request", "id")
    refusedAt(await patch({ profileId: absent("prof_") }), 422, "profile_not_found", "profileId")
    refusedAt(await patch({ profileVersion: 9 }), 422, "profile_not_found", "profileVersion")
    refused(await patch([]), 400, "invalid_request")
  })

  it("accepts application/merge-patch+json", async () => {
    const { id } = await create()
    const answer = await server.alpha.patch(
      `/v1/agents/${id}`,
      { name: "M" },
      { "content-type": "application/merge-patch+json" }
    )
    assert.deepStrictEqual([answer.status, answer.body.agent?.name], [200, "M"])
  })

  it("loses none of two changes at the same time", async () => {
    const { id } = await create()
    await Promise.all([
      server.alpha.patch(`/v1/agents/${id}`, { avatar: "a" }),
      server.alpha.patch(`/v1/agents/${id}`, { description: "d" })
    ])
    const { agent } = (await server.alpha.get(`/v1/agents/${id}`)).body
    assert.deepStrictEqual([agent.avatar, agent.description], ["a", "d"])
  })
})

describe("archiving an agent", () => {
  it("is 204 twice, stays readable, and refuses changes", async () => {
    const { id } = await create()
    const gone = await server.alpha.delete(`/v1/agents/${id}`)
    assert.deepStrictEqual([gone.status, gone.text], [204, ""])
    const { archivedAt } = (await server.alpha.get(`/v1/agents/${id}`)).body.agent
    assert.isString(archivedAt)
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${id}`)).status, 204)
    assert.strictEqual((await server.alpha.get(`/v1/agents/${id}`)).body.agent.archivedAt, archivedAt)
    refused(await server.alpha.patch(`/v1/agents/${id}`, { name: "B" }), 409, "agent_archived")
  })
})
