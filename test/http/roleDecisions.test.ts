/** Why roles would allow a call, or not, as the API explains it. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { RoleDecision } from "../../http/roles/api.ts"
import { allTools, noTools, readOnly } from "../../src/roles/role.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"
import { absent, assertRefusedAt as refusedAt } from "./refusals.ts"
import { made, makeWorkspaces } from "./roleFixture.ts"

const server = await sharedServer()
const { fresh } = makeWorkspaces(server)

describe("explaining a decision", () => {
  let client: Client
  let guarded: string
  let support: string
  beforeAll(async () => {
    client = await fresh()
    support = (
      await made(client, {
        allow: [
          { tools: "tickets.*" },
          { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 50 }] },
          { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 500 }], approval: "required" }
        ],
        deny: [{ tools: "*.delete*" }]
      })
    ).id
    guarded = (
      await made(client, {
        deny: [{ tools: "payments.*", conditions: [{ path: "/currency", op: "ne", value: "EUR" }] }]
      })
    ).id
  })
  const ask = async (body: object) => {
    const answer = await client.post("/v1/roles/evaluate", body)
    assert.strictEqual(answer.status, 200, answer.text)
    assertShape(RoleDecision, answer.body)
    return answer.body
  }

  it("names what allows", async () => {
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "tickets.search" }), {
      decision: "allow",
      by: support,
      matched: [{ roleId: support, list: "allow", index: 0 }],
      reason: `allowed by the role ${support}, allow[0]`
    })
  })

  it("names what asks for approval", async () => {
    assert.deepStrictEqual(
      await ask({ roleIds: [allTools.id, support], tool: "payments.refund", input: { amount: 100 } }),
      {
        decision: "allow",
        approval: "required",
        by: support,
        matched: [
          { roleId: allTools.id, list: "allow", index: 0 },
          { roleId: support, list: "allow", index: 2, approval: "required" }
        ],
        reason: `allowed by the role ${support}, allow[2], once it is approved`
      }
    )
  })

  it("names what denies, and what would have allowed", async () => {
    const matched = [
      { roleId: guarded, list: "deny", index: 0 },
      { roleId: support, list: "allow", index: 1 },
      { roleId: support, list: "allow", index: 2, approval: "required" }
    ]
    for (const input of [{ amount: 5, currency: "USD" }, { amount: 5 }]) {
      assert.deepStrictEqual(await ask({ roleIds: [support, guarded], tool: "payments.refund", input }), {
        decision: "deny",
        by: guarded,
        matched,
        reason: `denied by the role ${guarded}, deny[0]`
      })
    }
  })

  it("says when nothing allows, and when there is no role at all", async () => {
    const nothing = { decision: "deny", matched: [], reason: "no role allows this tool with this input" }
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "payments.refund" }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "payments.refund", input: { amount: "5" } }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [], tool: "a.b" }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [noTools.id], tool: "a.b" }), nothing)
  })

  it("takes a tool's mark as read-only into account", async () => {
    for (const [mark, decision] of [
      [true, "allow"],
      [false, "deny"],
      [undefined, "deny"]
    ] as const) {
      assert.strictEqual(
        (await ask({ roleIds: [readOnly.id], tool: "a.b", ...(mark !== undefined && { readOnly: mark }) })).decision,
        decision
      )
    }
  })

  it("asks the roles of a profile's latest version, as a turn would", async () => {
    const profile = async (fields: object) =>
      (await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })).body.profile.id
    const profileId = await profile({ roleIds: [support] })
    assert.strictEqual((await ask({ profileId, tool: "tickets.search" })).by, support)
    await client.patch(`/v1/profiles/${profileId}`, { roleIds: [noTools.id] })
    assert.strictEqual((await ask({ profileId, tool: "tickets.search" })).decision, "deny")
    assert.strictEqual((await ask({ profileId: await profile({}), tool: "a.b" })).by, allTools.id)
    assert.strictEqual((await ask({ profileId: await profile({ roleIds: [] }), tool: "a.b" })).decision, "deny")
  })

  it("follows a change at once", async () => {
    const { id } = await made(client, { allow: [{ tools: "*" }] })
    assert.strictEqual((await ask({ roleIds: [id], tool: "a.b" })).decision, "allow")
    await client.patch(`/v1/roles/${id}`, { allow: null })
    assert.strictEqual((await ask({ roleIds: [id], tool: "a.b" })).decision, "deny")
  })

  it("answers the same again under an Idempotency-Key", async () => {
    const send = () =>
      client.post("/v1/roles/evaluate", { roleIds: [support], tool: "tickets.a" }, { "idempotency-key": "explain" })
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual(
      [b.text, b.headers.get("idempotency-replayed"), b.headers.get("location")],
      [a.text, "true", null]
    )
  })

  it.each<[string, object, string]>([
    ["neither roles nor a profile", { tool: "a.b" }, "the body"],
    ["both", { tool: "a.b", roleIds: [allTools.id], profileId: absent("prof_") }, "the body"],
    ["nine roles", { tool: "a.b", roleIds: Array(9).fill(allTools.id) }, "roleIds"],
    ["an id of another noun", { tool: "a.b", roleIds: [absent("prof_")] }, "roleIds[0]"],
    ["no tool", { roleIds: [] }, "tool"],
    ["an empty tool", { roleIds: [], tool: "" }, "tool"],
    ["a tool of more than 512 bytes", { roleIds: [], tool: "t".repeat(513) }, "tool"],
    ["a mark that is a text", { roleIds: [], tool: "a.b", readOnly: "true" }, "readOnly"],
    ["an unknown field", { roleIds: [], tool: "a.b", args: {} }, "args"]
  ])("refuses %s with its path", async (_, body, path) =>
    refusedAt(await client.post("/v1/roles/evaluate", body), 400, "invalid_request", path)
  )

  it("takes eight roles, and a tool of 512 bytes", async () => {
    assert.strictEqual((await ask({ roleIds: Array(8).fill(allTools.id), tool: "t".repeat(512) })).matched.length, 8)
  })

  it("refuses roles and profiles that are not there, or of another workspace", async () => {
    refusedAt(
      await client.post("/v1/roles/evaluate", { tool: "a.b", roleIds: [allTools.id, absent("role_")] }),
      422,
      "role_not_found",
      "roleIds[1]"
    )
    refusedAt(
      await client.post("/v1/roles/evaluate", { tool: "a.b", profileId: absent("prof_") }),
      422,
      "profile_not_found",
      "profileId"
    )
    refusedAt(
      await server.alpha.post("/v1/roles/evaluate", { tool: "a.b", roleIds: [support] }),
      422,
      "role_not_found",
      "roleIds[0]"
    )
  })
})
