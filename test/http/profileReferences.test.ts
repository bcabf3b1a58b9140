/** What a profile names: roles and toolsets, and what its hooks do. */
import { assert, describe, it } from "@effect/vitest"
import { allTools, noTools, readOnly } from "../../src/roles/role.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { hook, profileStand, url } from "./profileFixture.ts"

const { agent, connection, create, patch, post, role, server, toolsets, turnsOf } = await profileStand()

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
