/** What a profile names: roles, toolsets, and its hooks with their limits. */
import { assert, describe, it } from "@effect/vitest"
import { allTools, noTools, readOnly } from "../../src/roles/role.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { newSecret } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"

const server = await during(startServer())
const directory = await server.runtime.runPromise(Directory)

const client = { type: "client" }
const url = { type: "url", url: "https://hooks.example.com/judge" }
const hook = (fields: object = {}) => ({ name: "h", point: "before_tool_call", processor: client, ...fields })

const post = (fields: Record<string, unknown> = {}) =>
  server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })
const create = async (fields: Record<string, unknown> = {}) => {
  const made = await post(fields)
  assert.strictEqual(made.status, 201, made.text)
  return made.body.profile
}
const patch = async (id: string, body: object) => {
  const answer = await server.alpha.patch(`/v1/profiles/${id}`, body)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.profile
}
const role = async (client = server.alpha): Promise<string> =>
  (await client.post("/v1/roles", { name: "r", allow: [{ tools: "*" }] })).body.role.id
const agent = async (client = server.alpha): Promise<string> => {
  const profile = await client.post("/v1/profiles", { name: "R", models: ["troupe/scripted"] })
  return (await client.post("/v1/agents", { name: "Reviewer", profileId: profile.body.profile.id })).body.agent.id
}
const connection = async (secret: object = { signingSecret: newSecret() }, client = server.alpha): Promise<string> => {
  const made = await client.post("/v1/connections", {
    allowedHosts: ["tools.example.com"],
    provider: "hooks",
    name: "c",
    secret
  })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.connection.id
}
/** As a row: what a toolset is beside that, a profile does not ask. */
const toolsets = async (count: number, workspace = server.workspaces.alpha): Promise<ReadonlyArray<string>> => {
  const ids = Array.from({ length: count }, () => freshId("toolset"))
  const at = new Date()
  await server.runtime.runPromise(
    server.database.run("test", (db) =>
      db
        .insertInto("toolsets")
        .values(
          ids.map((id) => ({
            workspace: toUuid(workspace),
            id: toUuid(id),
            namespace: id.slice(5),
            connection: null,
            body: "{}",
            checked: "{}",
            catalogue: 0,
            rev: 1,
            created_at: at,
            updated_at: at
          }))
        )
        .execute()
    )
  )
  return ids
}
const turnsOf = async (profileId: string, version: number) =>
  (await server.runtime.runPromise(directory.profile(server.workspaces.alpha, profileId, version))) ??
  assert.fail("no such version")

describe("the roles of a profile", () => {
  it("are all_tools where none are said, and again after a patch to null", async () => {
    const profile = await create()
    assert.deepStrictEqual(profile.roleIds, [allTools.id])
    const id = await role()
    assert.deepStrictEqual((await patch(profile.id, { roleIds: [id, readOnly.id] })).roleIds, [id, readOnly.id])
    assert.deepStrictEqual((await patch(profile.id, { roleIds: null })).roleIds, [allTools.id])
  })

  it("are none where none are listed, and its turns are allowed nothing", async () => {
    const profile = await create({ roleIds: [] })
    assert.deepStrictEqual(profile.roleIds, [])
    assert.deepStrictEqual((await turnsOf(profile.id, 1)).roleIds, [noTools.id])
    assert.strictEqual((await patch(profile.id, { roleIds: [] })).version, 1)
  })

  it("are all_tools in a version from before there were roles", async () => {
    const { id } = await create()
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        db
          .updateTable("profile_versions")
          .set({
            body: JSON.stringify({
              name: "Old",
              models: ["@a"],
              limits: { maxSteps: 1, maxTurnSeconds: 1, maxParallelTools: 1 }
            })
          })
          .where("profile", "=", toUuid(id))
          .execute()
      )
    )
    const { profile } = (await server.alpha.get(`/v1/profiles/${id}`)).body
    assert.deepStrictEqual([profile.roleIds, profile.toolsetIds, profile.hooks], [[allTools.id], [], []])
    assert.strictEqual((await patch(id, { name: "Old" })).version, 1)
  })

  it("are at most 8", async () => {
    const roles = await Promise.all(Array.from({ length: 9 }, () => role()))
    assert.lengthOf((await create({ roleIds: roles.slice(0, 8) })).roleIds, 8)
    refusedAt(await post({ roleIds: roles }), 400, "invalid_request", "roleIds")
  })

  it("that are listed cannot be deleted, and those that are not, can", async () => {
    const id = await role()
    const profile = await create({ roleIds: [id] })
    refused(await server.alpha.delete(`/v1/roles/${id}`), 409, "role_in_use")
    await patch(profile.id, { roleIds: null })
    assert.strictEqual((await server.alpha.delete(`/v1/roles/${id}`)).status, 204)
  })
})

describe("the toolsets of a profile", () => {
  it("are at most 64, each once", async () => {
    const ids = await toolsets(65)
    const profile = await create({ toolsetIds: ids.slice(0, 64) })
    assert.deepStrictEqual(profile.toolsetIds, ids.slice(0, 64))
    assert.deepStrictEqual((await turnsOf(profile.id, 1)).toolsetIds, ids.slice(0, 64))
    refusedAt(await post({ toolsetIds: ids }), 400, "invalid_request", "toolsetIds")
    refusedAt(await post({ toolsetIds: [ids[0], ids[0]] }), 400, "invalid_request", "toolsetIds")
  })
})

describe("what a profile names", () => {
  it("exists in its workspace, or the answer says where it does not", async () => {
    const [tset = ""] = await toolsets(1)
    const [foreign = ""] = await toolsets(1, server.workspaces.beta)
    const key = await connection({ token: "a-token-for-a-tool-server" })
    const archived = await agent()
    await server.alpha.delete(`/v1/agents/${archived}`)
    for (const [fields, word, path] of [
      [{ roleIds: [readOnly.id, absent("role_")] }, "role_not_found", "roleIds[1]"],
      [{ roleIds: [await role(server.beta)] }, "role_not_found", "roleIds[0]"],
      [{ toolsetIds: [tset, absent("tset_")] }, "toolset_not_found", "toolsetIds[1]"],
      [{ toolsetIds: [foreign] }, "toolset_not_found", "toolsetIds[0]"],
      [
        { hooks: [hook(), hook({ processor: { ...url, connectionId: absent("conn_") } })] },
        "connection_not_found",
        "hooks[1].processor.connectionId"
      ],
      [
        { hooks: [hook({ processor: { ...url, connectionId: await connection(undefined, server.beta) } })] },
        "connection_not_found",
        "hooks[0].processor.connectionId"
      ],
      [
        { hooks: [hook({ processor: { ...url, connectionId: key } })] },
        "connection_not_found",
        "hooks[0].processor.connectionId"
      ],
      [
        { hooks: [hook({ processor: { type: "agent", agentId: absent("agt_") } })] },
        "agent_not_found",
        "hooks[0].processor.agentId"
      ],
      [
        { hooks: [hook({ processor: { type: "agent", agentId: await agent(server.beta) } })] },
        "agent_not_found",
        "hooks[0].processor.agentId"
      ],
      [
        { hooks: [hook({ processor: { type: "agent", agentId: archived } })] },
        "agent_not_found",
        "hooks[0].processor.agentId"
      ]
    ] as const) {
      refusedAt(await post(fields), 422, word, path)
      const { id } = await create()
      refusedAt(await server.alpha.patch(`/v1/profiles/${id}`, fields), 422, word, path)
      assert.strictEqual((await server.alpha.get(`/v1/profiles/${id}`)).body.profile.version, 1)
    }
  })

  it("may have gone when another part of the profile is changed", async () => {
    const [tset = ""] = await toolsets(1)
    const reviewer = await agent()
    const profile = await create({
      toolsetIds: [tset],
      hooks: [hook({ processor: { type: "agent", agentId: reviewer } })]
    })
    await server.runtime.runPromise(
      server.database.run("test", (db) => db.deleteFrom("toolsets").where("id", "=", toUuid(tset)).execute())
    )
    await server.alpha.delete(`/v1/agents/${reviewer}`)
    assert.strictEqual((await patch(profile.id, { name: "Q" })).version, 2)
    refusedAt(await post({ toolsetIds: [tset] }), 422, "toolset_not_found", "toolsetIds[0]")
  })
})

describe("the hooks of a profile", () => {
  it("get ids, keep their order and what was said, and are the same to turns", async () => {
    const connectionId = await connection()
    const agentId = await agent()
    const hooks = [
      hook({
        point: "before_turn_start",
        processor: { ...url, url: "https://hooks.example.com/judge?tenant=a", connectionId },
        timeoutMs: 1_000,
        onError: "ask",
        onTimeout: "fail"
      }),
      hook({
        match: { tools: ["mail.*", "*"], conditions: [{ path: "/to", op: "in", value: ["a", { b: null }] }] },
        processor: { type: "agent", agentId, instructions: "Be\nstrict." }
      }),
      hook({
        point: "after_model_response",
        match: { conditions: [{ path: "/content/0/text", op: "contains", value: "\u0000 \ud800" }] },
        asyncTimeoutMs: 1_000,
        enabled: false
      })
    ]
    const profile = await create({ hooks })
    assert.deepStrictEqual(
      profile.hooks.map(({ id: _, ...rest }: { id: string }) => rest),
      hooks.map((one) => ({ enabled: true, ...one }))
    )
    for (const { id } of profile.hooks) assert.match(id, /^hook_/)
    assert.strictEqual(new Set(profile.hooks.map(({ id }: { id: string }) => id)).size, 3)
    assert.deepStrictEqual((await turnsOf(profile.id, 1)).hooks, profile.hooks)
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${profile.id}/versions/1`)).body.profile, profile)
  })

  it("keep their ids through a patch that carries them, in whatever order", async () => {
    const profile = await create({ hooks: [hook({ name: "a" }), hook({ name: "b" })] })
    const [a, b] = profile.hooks
    const next = await patch(profile.id, { hooks: [{ ...b, name: "B" }, hook({ name: "c" }), a] })
    assert.deepStrictEqual(
      next.hooks.map(({ name }: { name: string }) => name),
      ["B", "c", "a"]
    )
    assert.deepStrictEqual([next.hooks[0].id, next.hooks[2].id], [b.id, a.id])
    assert.notInclude([a.id, b.id], next.hooks[1].id)
    assert.strictEqual(next.version, 2)
  })

  it("make no version when nothing of them changes, and are gone after a patch to null", async () => {
    const profile = await create({ hooks: [hook({ match: { tools: ["a.*"] } })] })
    const [{ enabled: _, ...same }] = profile.hooks
    assert.strictEqual((await patch(profile.id, { hooks: profile.hooks })).version, 1)
    assert.strictEqual((await patch(profile.id, { hooks: [same], name: "P" })).version, 1)
    assert.deepStrictEqual((await patch(profile.id, { hooks: null })).hooks, [])
  })

  it("cannot carry an id that the latest version has not", async () => {
    refusedAt(await post({ hooks: [hook({ id: freshId("hook") })] }), 400, "invalid_request", "hooks[0].id")
    const one = await create({ hooks: [hook()] })
    const other = await create({ hooks: [hook()] })
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${one.id}`, { hooks: [hook(), other.hooks[0]] }),
      400,
      "invalid_request",
      "hooks[1].id"
    )
    await patch(one.id, { hooks: [] })
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${one.id}`, { hooks: one.hooks }),
      400,
      "invalid_request",
      "hooks[0].id"
    )
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${other.id}`, { hooks: [other.hooks[0], other.hooks[0]] }),
      400,
      "invalid_request",
      "hooks[1].id"
    )
  })

  it("are at most 16", async () => {
    assert.lengthOf((await create({ hooks: Array(16).fill(hook()) })).hooks, 16)
    refusedAt(await post({ hooks: Array(17).fill(hook()) }), 400, "invalid_request", "hooks")
  })

  const agentId = absent("agt_")
  const condition = { path: "/a", op: "eq", value: 1 }
  const ofLength = (bytes: number) => `https://hooks.example.com/${"p".repeat(bytes - 26)}`
  for (const [what, most, past, path] of [
    ["a name", { name: "n".repeat(128) }, { name: "n".repeat(129) }, "name"],
    [
      "conditions",
      { match: { conditions: Array(8).fill(condition) } },
      { match: { conditions: Array(9).fill(condition) } },
      "match.conditions"
    ],
    [
      "a condition's value",
      { match: { conditions: [{ ...condition, value: "v".repeat(512) }] } },
      { match: { conditions: [{ ...condition, value: "v".repeat(513) }] } },
      "match.conditions[0].value"
    ],
    [
      "selectors",
      { match: { tools: Array(32).fill("a.*") } },
      { match: { tools: Array(33).fill("a.*") } },
      "match.tools"
    ],
    ["a selector", { match: { tools: ["s".repeat(176)] } }, { match: { tools: ["s".repeat(177)] } }, "match.tools[0]"],
    [
      "a url",
      { processor: { type: "url", url: ofLength(2048) } },
      { processor: { type: "url", url: ofLength(2049) } },
      "processor.url"
    ],
    ["a url's timeoutMs", { processor: url, timeoutMs: 30_000 }, { processor: url, timeoutMs: 30_001 }, "timeoutMs"],
    ["a url's least timeoutMs", { processor: url, timeoutMs: 1_000 }, { processor: url, timeoutMs: 999 }, "timeoutMs"],
    ["an asyncTimeoutMs", { asyncTimeoutMs: 86_400_000 }, { asyncTimeoutMs: 86_400_001 }, "asyncTimeoutMs"],
    ["the least asyncTimeoutMs", { asyncTimeoutMs: 1_000 }, { asyncTimeoutMs: 999 }, "asyncTimeoutMs"]
  ] as const) {
    it(`have ${what} at its limit and not past it`, async () => {
      await create({ hooks: [hook(most)] })
      refusedAt(await post({ hooks: [hook(), hook(past)] }), 400, "invalid_request", `hooks[1].${path}`)
    })
  }

  it("have an agent's time and instructions at their limits and not past them", async () => {
    const processor = { type: "agent", agentId: await agent() }
    await create({ hooks: [hook({ processor: { ...processor, instructions: "i".repeat(4096) }, timeoutMs: 300_000 })] })
    refusedAt(
      await post({ hooks: [hook({ processor, timeoutMs: 300_001 })] }),
      400,
      "invalid_request",
      "hooks[0].timeoutMs"
    )
    refusedAt(
      await post({ hooks: [hook({ processor: { ...processor, instructions: "i".repeat(4097) } })] }),
      400,
      "invalid_request",
      "hooks[0].processor.instructions"
    )
  })

  for (const [what, fields, path] of [
    ["no name", { name: undefined }, "name"],
    ["an unknown point", { point: "before_everything" }, "point"],
    ["an unknown field", { priority: 1 }, "priority"],
    ["an unknown processor", { processor: { type: "email" } }, "processor"],
    ["a processor's field of another type", { processor: { type: "client", agentId } }, "processor.agentId"],
    ["a url that is none", { processor: { type: "url", url: "hooks.example.com" } }, "processor.url"],
    ["a url of another scheme", { processor: { type: "url", url: "ftp://hooks.example.com" } }, "processor.url"],
    ["a url with credentials", { processor: { type: "url", url: "https://a:b@hooks.example.com" } }, "processor.url"],
    ["a url with a fragment", { processor: { type: "url", url: "https://hooks.example.com/#a" } }, "processor.url"],
    ["a url of cloud metadata", { processor: { type: "url", url: "http://169.254.169.254/latest" } }, "processor.url"],
    ["a connection's id of another form", { processor: { ...url, connectionId: "c" } }, "processor.connectionId"],
    ["selectors where no tool is called", { point: "before_turn_start", match: { tools: ["*"] } }, "match.tools"],
    ["selectors of none", { match: { tools: [] } }, "match.tools"],
    ["an empty selector", { match: { tools: [""] } }, "match.tools[0]"],
    ["an unknown op", { match: { conditions: [{ path: "/a", op: "matches", value: "x" }] } }, "match.conditions[0].op"],
    ["a path that is no pointer", { match: { conditions: [{ ...condition, path: "a" }] } }, "match.conditions[0].path"],
    ["an unknown part of match", { match: { threads: [] } }, "match.threads"],
    ["a time for an answer of a client", { timeoutMs: 1_000 }, "timeoutMs"],
    ["half a millisecond", { asyncTimeoutMs: 1_000.5 }, "asyncTimeoutMs"],
    ["an unknown onError", { onError: "defer" }, "onError"],
    ["an unknown onTimeout", { onTimeout: "ask" }, "onTimeout"],
    ["null for a field", { match: null }, "match"],
    ["an enabled that is neither", { enabled: "yes" }, "enabled"],
    ["an id of another form", { id: "h1" }, "id"]
  ] as const) {
    it(`have not ${what}`, async () =>
      refusedAt(await post({ hooks: [hook(fields)] }), 400, "invalid_request", `hooks[0].${path}`))
  }

  it("have https URLs of public hosts where private networks are closed", async () => {
    const closed = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      const send = (target: string) =>
        closed.alpha.post("/v1/profiles", {
          name: "P",
          models: ["@a"],
          hooks: [hook(), hook({ processor: { type: "url", url: target } })]
        })
      const made = await send("https://hooks.example.com/")
      assert.strictEqual(made.status, 201, made.text)
      for (const target of [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://0x7f000001/"
      ]) {
        refusedAt(await send(target), 400, "invalid_request", "hooks[1].processor.url")
        refusedAt(
          await closed.alpha.patch(`/v1/profiles/${made.body.profile.id}`, {
            hooks: [hook({ processor: { type: "url", url: target } })]
          }),
          400,
          "invalid_request",
          "hooks[0].processor.url"
        )
      }
    } finally {
      await closed.stop()
    }
  })

  it("take effect once for an Idempotency-Key, with the same ids", async () => {
    const send = () =>
      server.alpha.post("/v1/profiles", { name: "P", models: ["@a"], hooks: [hook()] }, { "idempotency-key": "hooks" })
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual([a.text, b.headers.get("idempotency-replayed")], [b.text, "true"])
  })
})
