import { assert, describe, it } from "@effect/vitest"
import { servedFamilies } from "../../src/agents/profile.ts"
import { limits } from "../../src/domain/limits.ts"
import { allTools } from "../../src/roles/role.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"

const server = await sharedServer()

const post = (fields: Record<string, unknown> = {}) =>
  server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })
const create = async (fields: Record<string, unknown> = {}) => {
  const made = await post(fields)
  assert.strictEqual(made.status, 201, made.text)
  return made.body.profile
}

describe("creating a profile", () => {
  it("makes version 1 with every default said, and the same is read back", async () => {
    const made = await post({ description: "d", systemPrompt: "Be\nbrief. \u0000 \udfff", limits: { maxSteps: 3 } })
    assert.strictEqual(made.status, 201)
    const { createdAt, id, updatedAt, ...rest } = made.body.profile
    assert.deepStrictEqual(rest, {
      version: 1,
      name: "P",
      description: "d",
      models: ["troupe/scripted"],
      systemPrompt: "Be\nbrief. \u0000 \udfff",
      limits: { maxSteps: 3, maxTurnSeconds: 3600, maxParallelTools: 8 },
      toolsetIds: [],
      roleIds: [allTools.id],
      compaction: { enabled: true, triggerRatio: 0.8, keepTurns: 2 },
      familyExposure: "search",
      memory: { agent: "rw", workspace: "r" },
      hooks: []
    })
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual([made.headers.get("location"), made.headers.get("etag")], [`/v1/profiles/${id}`, `"1"`])
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${id}`)).body, made.body)
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${id}/versions/1`)).body, made.body)
  })

  const selector = (chars: number) => `openai/${"m".repeat(chars - 7)}`
  for (const [field, most, past] of [
    ["name", "n".repeat(128), "n".repeat(129)],
    ["description", "d".repeat(4096), "d".repeat(4097)],
    ["systemPrompt", "€".repeat(1365) + "x", "€".repeat(1366)],
    ["models", Array(8).fill("@fast"), Array(9).fill("@fast")],
    ["models", [selector(512)], [selector(513)]],
    ["models", ["openai/*"], []]
  ] as const) {
    it(`accepts ${field} at its limit and refuses it past that`, async () => {
      assert.deepStrictEqual((await create({ [field]: most }))[field], most)
      refused(await post({ [field]: past }), 400, "invalid_request")
    })
  }
  for (const [field, most] of [
    ["maxSteps", 1000],
    ["maxTurnSeconds", 86_400],
    ["maxParallelTools", 64]
  ] as const) {
    it(`accepts limits.${field} from 1 to ${most}`, async () => {
      for (const value of [1, most])
        assert.strictEqual((await create({ limits: { [field]: value } })).limits[field], value)
      for (const value of [0, most + 1, 1.5, "1", null])
        refusedAt(await post({ limits: { [field]: value } }), 400, "invalid_request", `limits.${field}`)
    })
  }

  for (const [what, fields, path] of [
    ["no models", { models: undefined }, "models"],
    ["a selector without a provider", { models: ["gpt"] }, "models[0]"],
    ["a selector with a space", { models: ["troupe/scripted", "a b/c"] }, "models[1]"],
    ["an empty selector", { models: [""] }, "models[0]"],
    ["a bare @", { models: ["@"] }, "models[0]"],
    ["a blank name", { name: " " }, "name"],
    ["an unknown limit", { limits: { maxTokens: 5 } }, "limits.maxTokens"],
    ["an unknown field", { model: "troupe/scripted" }, "model"],
    ["a tool family that this server has not got", { families: ["thread", "artifacts"] }, "families[1]"],
    ["a tool family that is none", { families: ["magic"] }, "families[0]"],
    ["a role's id of another form", { roleIds: ["x"] }, "roleIds[0]"],
    ["a role twice", { roleIds: [allTools.id, allTools.id] }, "roleIds"],
    ["a way to use memory that there is not", { memory: { agent: "w" } }, "memory.agent"],
    ["a store that there is not", { memory: { thread: "r" } }, "memory.thread"],
    ["a way to show families that there is not", { familyExposure: "never" }, "familyExposure"],
    ["a trigger that there is not", { compaction: { triggerRatio: 1 } }, "compaction.triggerRatio"]
  ] as const) {
    it(`refuses ${what} with its path`, async () => refusedAt(await post(fields), 400, "invalid_request", path))
  }

  it("accepts the tool families that this server has, and says which", async () => {
    const families = servedFamilies.toReversed()
    assert.deepStrictEqual((await create({ families })).families, families)
    assert.include((await post({ families: ["sandbox"] })).body.message, `must be one of ${servedFamilies.join(", ")}`)
    refusedAt(await post({ families: ["agents", "agents"] }), 400, "invalid_request", "families")
    // So the limit of a profile's families is reached by nobody.
    assert.isBelow(servedFamilies.length, limits.revealedFamilies)
  })
})

describe("a selector that selects nothing today", () => {
  const paths = ({ body }: { readonly body: { readonly warnings?: ReadonlyArray<{ readonly path: string }> } }) =>
    body.warnings?.map(({ path }) => path)

  it("is stored, and told at the write", async () => {
    const made = await post({ models: ["troupe/scripted", "@nope", "troupe/*", "nobody/nothing"] })
    assert.strictEqual(made.status, 201)
    assert.deepStrictEqual(paths(made), ["models[1]", "models[3]"])
    assert.include(made.body.warnings[0].message, "@nope selects no model of this server today")
    const { id } = made.body.profile
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${id}`)).body, { profile: made.body.profile })

    const renamed = await server.alpha.patch(`/v1/profiles/${id}`, { name: "Q" })
    assert.deepStrictEqual(renamed.body.warnings, made.body.warnings)
    assert.notProperty((await server.alpha.patch(`/v1/profiles/${id}`, { models: ["troupe/*"] })).body, "warnings")
  })

  it("is said to stop everything where there is no other", async () => {
    const made = await post({ models: ["@nope", "openai/*"] })
    assert.deepStrictEqual(paths(made), ["models[0]", "models[1]", "models"])
    assert.include(made.body.warnings[2].message, "422 model_unavailable")
  })

  it("is told again to whoever repeats the write with its Idempotency-Key", async () => {
    const send = () =>
      server.alpha.post("/v1/profiles", { name: "P", models: ["@nope"] }, { "idempotency-key": "warned" })
    const [first, again] = [await send(), await send()]
    assert.deepStrictEqual(paths(first), ["models[0]", "models"])
    assert.strictEqual(again.text, first.text)
  })
})

describe("changing a profile", () => {
  it("makes immutable versions, of which agents follow the latest or the one they are pinned to", async () => {
    const { id, ...first } = await create({ systemPrompt: "one", limits: { maxSteps: 3 } })
    const second = await server.alpha.patch(`/v1/profiles/${id}`, {
      systemPrompt: "two",
      limits: { maxTurnSeconds: 60 }
    })
    assert.deepStrictEqual([second.status, second.headers.get("etag")], [200, `"2"`])
    assert.deepStrictEqual(second.body.profile.limits, { maxSteps: 3, maxTurnSeconds: 60, maxParallelTools: 8 })
    const third = (await server.alpha.patch(`/v1/profiles/${id}`, { systemPrompt: null, limits: null })).body.profile
    assert.deepStrictEqual([third.version, third.systemPrompt, third.limits.maxSteps], [3, undefined, 50])
    assert.strictEqual(third.createdAt, first.createdAt)

    const { versions } = (await server.alpha.get(`/v1/profiles/${id}/versions`)).body
    assert.deepStrictEqual(
      versions.map((profile: { version: number }) => profile.version),
      [3, 2, 1]
    )
    assert.deepStrictEqual(versions[2], { id, ...first })
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${id}/versions/2`)).body, second.body)
    assert.strictEqual((await server.alpha.get("/v1/profiles?limit=1")).body.profiles[0].version, 3)
    assert.strictEqual(
      (await server.alpha.post("/v1/agents", { name: "A", profileId: id, profileVersion: 2 })).status,
      201
    )
  })

  it("makes no version when nothing changes", async () => {
    const { id } = await create({ limits: { maxSteps: 3 } })
    const same = await server.alpha.patch(`/v1/profiles/${id}`, {
      name: "P",
      limits: { maxSteps: 3 },
      models: ["troupe/scripted"]
    })
    assert.deepStrictEqual([same.status, same.body.profile.version], [200, 1])
    assert.strictEqual((await server.alpha.patch(`/v1/profiles/${id}`, {})).body.profile.version, 1)
  })

  it("numbers versions without gaps when many change it at once", async () => {
    const { id } = await create()
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => server.alpha.patch(`/v1/profiles/${id}`, { systemPrompt: `${i}` }))
    )
    const { versions } = (await server.alpha.get(`/v1/profiles/${id}/versions`)).body
    assert.deepStrictEqual(
      versions.map((profile: { version: number }) => profile.version),
      [9, 8, 7, 6, 5, 4, 3, 2, 1]
    )
  })

  it("refuses what would leave an invalid profile", async () => {
    const { id } = await create()
    for (const [body, path] of [
      [{ name: null }, "name"],
      [{ models: null }, "models"],
      [{ models: [] }, "models"],
      [{ version: 7 }, "version"],
      [{ roleIds: ["x"] }, "roleIds[0]"]
    ] as const)
      refusedAt(await server.alpha.patch(`/v1/profiles/${id}`, body), 400, "invalid_request", path)
  })
})

describe("listing versions", () => {
  it("pages versions, with a cursor of that profile only", async () => {
    const { id } = await create()
    const other = await create()
    for (let i = 0; i < 3; i++) await server.alpha.patch(`/v1/profiles/${id}`, { name: `${i}` })
    const first = (await server.alpha.get(`/v1/profiles/${id}/versions?limit=3`)).body
    const second = (await server.alpha.get(`/v1/profiles/${id}/versions?limit=3&cursor=${first.nextCursor}`)).body
    assert.deepStrictEqual(
      [...first.versions, ...second.versions].map((profile) => profile.version),
      [4, 3, 2, 1]
    )
    refusedAt(
      await server.alpha.get(`/v1/profiles/${other.id}/versions?cursor=${first.nextCursor}`),
      400,
      "invalid_request",
      "cursor"
    )
    for (const limit of [0, 201])
      refusedAt(await server.alpha.get(`/v1/profiles/${id}/versions?limit=${limit}`), 400, "invalid_request", "limit")
  })
})

describe("who may do what with profiles", () => {
  it("answers 404 for versions that are absent, malformed or of another workspace", async () => {
    const { id } = await create()
    for (const version of ["2", "0", "01", "-1", "x", "1.0", "9".repeat(30)]) {
      refused(await server.alpha.get(`/v1/profiles/${id}/versions/${version}`), 404, "not_found")
    }
    refused(await server.beta.get(`/v1/profiles/${id}/versions`), 404, "not_found")
    refused(await server.beta.get(`/v1/profiles/${id}/versions/1`), 404, "not_found")
  })
})
