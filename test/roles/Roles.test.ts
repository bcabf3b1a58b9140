import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { allTools, noTools, readOnly } from "../../src/roles/role.ts"
import { evaluateRoles } from "../../src/roles/evaluate.ts"
import { Roles } from "../../src/roles/Roles.ts"
import { deleteRole, patchRole } from "../../src/roles/rows.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { countStatements } from "../setup/statements.ts"
import { absent } from "../http/refusals.ts"
import { eventually } from "../waiting.ts"

const reads = countStatements(/from roles where workspace/)
const server = await during(startServer({ leaseTtlMs: 1_000 }))
const roles = await server.runtime.runPromise(Roles)
const alpha = server.workspaces.alpha
afterAll(() => reads.stop())

const create = async (fields: object): Promise<string> =>
  (await server.alpha.post("/v1/roles", { name: "R", ...fields })).body.role.id
const of = (ids: ReadonlyArray<string>, workspace = alpha) => server.runtime.runPromise(roles.of(workspace, ids))
const decide = async (ids: ReadonlyArray<string>, name = "a.b", workspace = alpha) =>
  evaluateRoles(await of(ids, workspace), { name, input: {}, readOnly: false }).decision

describe("the roles of a turn", () => {
  it("are those of the ids in their order, built-in ones among them", async () => {
    const [first, second] = [await create({ allow: [{ tools: "a.*" }] }), await create({ deny: [{ tools: "a.c" }] })]
    assert.deepStrictEqual(
      (await of([second, readOnly.id, first, noTools.id])).map(({ id }) => id),
      [second, readOnly.id, first, noTools.id]
    )
    assert.deepStrictEqual(
      [await decide([first, second]), await decide([first, second], "a.c"), await decide([second])],
      ["allow", "deny", "deny"]
    )
  })

  it("allow nothing when there are none", async () => {
    assert.deepStrictEqual(await of([]), [])
  })

  it("are read in one statement, and then come from memory", async () => {
    const ids = await Promise.all([1, 2, 3].map(() => create({ allow: [{ tools: "*" }] })))
    const before = reads.count
    const found = await of(ids)
    assert.strictEqual(reads.count - before, 1)
    assert.deepStrictEqual(await of(ids), found)
    assert.strictEqual((await of([ids[1]!]))[0], found[1])
    await of([allTools.id, noTools.id, readOnly.id])
    assert.strictEqual(reads.count - before, 1)
  })

  it("deny everything where there is no role with that id, or only in another workspace", async () => {
    const id = await create({ allow: [{ tools: "*" }] })
    assert.strictEqual(await decide([id]), "allow")
    assert.strictEqual(await decide([id], "a.b", server.workspaces.beta), "deny")
    assert.strictEqual(await decide([allTools.id, absent("role_")]), "deny")
    assert.strictEqual((await of([absent("role_")]))[0]?.id, absent("role_"))
  })

  it("follow a change and a delete by this node at once", async () => {
    const id = await create({ allow: [{ tools: "*" }] })
    assert.strictEqual(await decide([id]), "allow")
    await server.alpha.patch(`/v1/roles/${id}`, { deny: [{ tools: "a.b" }] })
    assert.strictEqual(await decide([id]), "deny")
    await server.alpha.patch(`/v1/roles/${id}`, { deny: null })
    assert.strictEqual(await decide([id]), "allow")
    assert.strictEqual((await server.alpha.delete(`/v1/roles/${id}`)).status, 204)
    assert.strictEqual(await decide([id]), "deny")
  })

  it("follow a change and a delete by another node within a beat", async () => {
    const id = await create({ allow: [{ tools: "*" }] })
    assert.strictEqual(await decide([id]), "allow")
    // Behind the node's back, as another one would: nothing is forgotten here.
    const elsewhere = <A>(write: Parameters<typeof server.database.atomically<A>>[1]) =>
      server.runtime.runPromise(server.database.atomically("test.elsewhere", write))
    await elsewhere((tx) => patchRole(tx, alpha, id, { deny: [{ tools: "*" }] }, () => true, Date.now()))
    await eventually(async () => (await decide([id])) === "deny", "the change is known")
    await elsewhere((tx) => patchRole(tx, alpha, id, { deny: null }, () => true, Date.now()))
    await eventually(async () => (await decide([id])) === "allow", "the change is known")
    await elsewhere((tx) => deleteRole(tx, alpha, id, () => true))
    await eventually(async () => (await decide([id])) === "deny", "the change is known")
  })

  it("are not kept from a read that began before a change", async () => {
    const id = await create({ allow: [{ tools: "*" }] })
    const before = reads.count
    await server.runtime.runPromise(
      Effect.gen(function* () {
        const early = yield* Effect.forkChild(roles.of(alpha, [id]), { startImmediately: true })
        assert.strictEqual(reads.count - before, 1, "the read is under way")
        roles.forget()
        yield* Fiber.join(early)
      })
    )
    await of([id])
    assert.strictEqual(reads.count - before, 2)
    await of([id])
    assert.strictEqual(reads.count - before, 2)
  })
})
