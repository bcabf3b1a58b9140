import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { Registries } from "../../actors/Registries.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { identityActorId } from "../../src/identities/actorId.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { fresh } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 1 }))
const profileId = (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile.id

const disable = (identity: string) => server.alpha.post("/v1/identities/disable", { identity })
const enable = (identity: string) => server.alpha.post("/v1/identities/enable", { identity })
const record = async (identity: string) =>
  (await server.alpha.get("/v1/identities?limit=200")).body.identities.find(
    (one: { identity: string }) => one.identity === identity
  )

/** No identity's actor is in memory: whoever is asked for is loaded. */
const forget = () =>
  server.runtime.runPromise(
    Effect.gen(function* () {
      const actors = (yield* Registries).of("identity") ?? assert.fail("no identities")
      while (actors.size() > 0) yield* Effect.andThen(Effect.sleep(2), actors.passivate)
    })
  )

describe("disabling and enabling an identity", () => {
  it("answers 200 with an operation that is completed, and whose result is the identity", async () => {
    const answer = await disable(" ann ")
    assert.strictEqual(answer.status, 200)
    const { operation } = answer.body
    assert.match(operation.id, /^op_/)
    assert.deepInclude(operation, { action: "identity.disable", state: "completed" })
    assert.strictEqual(operation.resolvedBy.type, "api_key")
    assert.strictEqual(Date.parse(operation.expiresAt) - Date.parse(operation.createdAt), 24 * 3600 * 1000)
    assert.strictEqual(operation.result.status, 200)
    assert.deepInclude(operation.result.body.identity, {
      identity: "ann",
      disabled: true,
      disabledBy: operation.resolvedBy,
      activeAgents: 0
    })
    assert.deepStrictEqual(await record("ann"), operation.result.body.identity)

    const back = (await enable("ann")).body.operation
    assert.strictEqual(back.action, "identity.enable")
    assert.strictEqual(back.result.body.identity.disabled, false)
    for (const field of ["disabledAt", "disabledBy"]) assert.notProperty(back.result.body.identity, field)
    assert.deepStrictEqual(await record("ann"), back.result.body.identity)
  })

  it("is idempotent both ways, also for an identity that was never seen, and keeps the first moment", async () => {
    const first = (await disable("bo")).body.operation.result.body.identity
    const again = (await disable("bo")).body.operation.result.body.identity
    assert.deepStrictEqual(again, first)
    for (let i = 0; i < 2; i++)
      assert.strictEqual((await enable("bo")).body.operation.result.body.identity.disabled, false)
    assert.strictEqual((await enable("never seen")).body.operation.result.body.identity.disabled, false)
    assert.strictEqual((await record("never seen")).disabled, false)
  })

  it("takes effect once for an Idempotency-Key", async () => {
    const send = () => server.alpha.post("/v1/identities/disable", { identity: "ida" }, { "idempotency-key": "i" })
    const first = await send()
    const again = await send()
    assert.deepStrictEqual([again.text, again.headers.get("idempotency-replayed")], [first.text, "true"])
    refused(
      await server.alpha.post("/v1/identities/disable", { identity: "eva" }, { "idempotency-key": "i" }),
      422,
      "idempotency_key_reused"
    )
  })

  it("answers every call of many that come at once, also for an identity that nobody has named before", async () => {
    const names = Array.from({ length: 12 }, (_, i) => `fresh ${i}`)
    const answers = await Promise.all(
      names.flatMap((name, n) =>
        Array.from({ length: 8 }, (_, i) => ((i + n) % 2 === 0 ? disable(name) : enable(name)))
      )
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200)
    )
    await forget()
    for (const name of names) {
      const { disabled } = await record(name)
      assert.deepStrictEqual(
        (await (disabled ? disable(name) : enable(name))).body.operation.result.body.identity,
        await record(name)
      )
    }
  })

  it("disables an identity that was enabled before it was ever disabled, and whose actor has left memory since", async () => {
    await enable("first enabled")
    await forget()
    assert.strictEqual((await record("first enabled")).disabled, false)
    const answer = await disable("first enabled")
    assert.strictEqual(answer.status, 200)
    assert.deepInclude(answer.body.operation.result.body.identity, {
      disabled: true,
      disabledBy: answer.body.operation.resolvedBy
    })
    assert.deepStrictEqual(await record("first enabled"), answer.body.operation.result.body.identity)
  })

  it("takes an identity whose row has an empty carry for what it is: enabled", async () => {
    await enable("of old")
    await forget()
    await server.runtime.runPromise(
      server.database.run("test.old", (db) =>
        sql`update heads set status = 'idle', carry = '{}' where id = ${toUuid(identityActorId(server.workspaces.alpha, "of old"))}`.execute(
          db
        )
      )
    )
    const key = await server.client(server.workspaces.alpha, { identity: "of old" })
    assert.strictEqual((await record("of old")).disabled, false)
    assert.strictEqual((await enable("of old")).body.operation.result.body.identity.disabled, false)
    assert.strictEqual((await key.get("/v1/auth")).status, 200)
    assert.strictEqual((await disable("of old")).body.operation.result.body.identity.disabled, true)
    await forget()
    assert.strictEqual((await record("of old")).disabled, true)
    refused(await key.get("/v1/auth"), 403, "identity_disabled")
    assert.strictEqual((await enable("of old")).body.operation.result.body.identity.disabled, false)
    assert.strictEqual((await key.get("/v1/auth")).status, 200)
  })

  it("ends in the state of the last call when many come at once", async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? disable("storm") : enable("storm"))))
    assert.strictEqual((await disable("storm")).body.operation.result.body.identity.disabled, true)
    assert.strictEqual((await record("storm")).disabled, true)
  })

  it("cannot be done to the identity of the calling key", async () => {
    const mine = await server.client(server.workspaces.alpha, { identity: "me" })
    refused(await mine.post("/v1/identities/disable", { identity: " me " }), 409, "own_identity")
    assert.strictEqual((await mine.post("/v1/identities/enable", { identity: "me" })).status, 200)
    assert.strictEqual((await mine.get("/v1/auth")).status, 200)
  })

  it("refuses every request of the identity's keys at once, until it is enabled", async () => {
    const key = await server.client(server.workspaces.alpha, { identity: "kim" })
    assert.strictEqual((await key.get("/v1/auth")).status, 200)
    await disable("kim")
    refused(await key.get("/v1/auth"), 403, "identity_disabled")
    refused(await key.get(`/v1/agents/${absent("agt_")}`), 403, "identity_disabled")
    await enable("kim")
    assert.strictEqual((await key.get("/v1/auth")).status, 200)
  })

  it("refuses new work in its name: the thread's, the agent's and the caller's", async () => {
    const agent = async (fields: object) =>
      (await server.alpha.post("/v1/agents", { name: "A", profileId, ...fields })).body.agent.id
    const named = await agent({ identity: "lou" })
    const plain = await agent({})
    const message = { content: [{ type: "text", text: "hi" }] }
    await disable("lou")
    for (const body of [
      { agentId: named, message },
      { agentId: plain, identity: "lou", message }
    ]) {
      refused(await server.alpha.post("/v1/threads", body), 403, "identity_disabled")
    }
    const thread = (await server.alpha.post("/v1/threads", { agentId: plain })).body.thread.id
    assert.strictEqual((await server.alpha.post(`/v1/threads/${thread}/messages`, message)).status, 201)
    await enable("lou")
    assert.strictEqual((await server.alpha.post("/v1/threads", { agentId: named, message })).status, 201)
  })

  it("stays within its workspace", async () => {
    await disable("pat")
    const theirs = await server.client(server.workspaces.beta, { identity: "pat" })
    assert.strictEqual((await theirs.get("/v1/auth")).status, 200)
    assert.notInclude((await server.beta.get("/v1/identities")).text, "ann")
  })

  it("accepts an identity of 512 bytes and refuses anything else", async () => {
    const longest = "é".repeat(256)
    assert.strictEqual((await disable(longest)).body.operation.result.body.identity.identity, longest)
    for (const path of ["/v1/identities/disable", "/v1/identities/enable"]) {
      for (const identity of ["", "  ", `${longest}x`, "a\u0000", "a\u009fb", "a\ud800", 7, null, ["a"]]) {
        refusedAt(await server.alpha.post(path, { identity }), 400, "invalid_request", "identity")
      }
      refusedAt(await server.alpha.post(path, {}), 400, "invalid_request", "identity")
      refusedAt(await server.alpha.post(path, { identity: "a", reason: "b" }), 400, "invalid_request", "reason")
    }
  })
})

describe("listing identities", () => {
  it("counts the agents that are not archived", async () => {
    const identity = fresh("counted")
    const make = async () => (await server.alpha.post("/v1/agents", { name: "A", profileId, identity })).body.agent.id
    const [first] = [await make(), await make()]
    assert.strictEqual((await record(identity)).activeAgents, 2)
    await server.alpha.delete(`/v1/agents/${first}`)
    assert.strictEqual((await record(identity)).activeAgents, 1)
  })

  it("pages newest first", async () => {
    for (const identity of ["1", "2", "3"]) await server.beta.post("/v1/identities/disable", { identity })
    const first = (await server.beta.get("/v1/identities?limit=2")).body
    const second = (await server.beta.get(`/v1/identities?limit=1&cursor=${first.nextCursor}`)).body
    assert.deepStrictEqual(
      [...first.identities, ...second.identities].map((one) => one.identity),
      ["3", "2", "1"]
    )
    for (const limit of [0, 201])
      refusedAt(await server.beta.get(`/v1/identities?limit=${limit}`), 400, "invalid_request", "limit")
  })
})
