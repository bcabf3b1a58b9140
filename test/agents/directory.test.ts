import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { sql } from "kysely"
import { allTools } from "../../src/roles/role.ts"
import { raiseAuthRevision } from "../../src/keys/rows.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { makeAgentCache } from "../../src/agents/agentCache.ts"
import { Database } from "../../src/database/Database.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { countStatements } from "../setup/statements.ts"
import { eventually } from "../waiting.ts"

const server = await during(startServer({ leaseTtlMs: 1_000 }))
const directory = await server.runtime.runPromise(Directory)
const workspace = server.workspaces.alpha

const profile = async () =>
  (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], systemPrompt: "one" })).body
    .profile.id
const agent = async (profileId: string, fields: object = {}) =>
  (await server.alpha.post("/v1/agents", { name: "A", profileId, ...fields })).body.agent.id
const ask = (agentId: string) => server.runtime.runPromise(directory.agent(workspace, agentId))

describe("the directory", () => {
  it("answers with the agent and its resolved profile, then from memory", async () => {
    const profileId = await profile()
    const id = await agent(profileId, { identity: "ann", budget: { limit: 1, window: "7d" } })
    assert.isUndefined(directory.peek(workspace, id))
    const view = await ask(id)
    assert.deepStrictEqual(view, {
      agentId: id,
      archived: false,
      identity: "ann",
      profileId,
      limit: 1,
      window: "7d",
      profile: {
        profileId,
        version: 1,
        models: ["troupe/scripted"],
        systemPrompt: "one",
        compaction: { enabled: true, triggerRatio: 0.8, keepTurns: 2 },
        limits: { maxSteps: 50, maxTurnSeconds: 3600, maxParallelTools: 8 },
        roleIds: [allTools.id],
        familyExposure: "search",
        memory: { agent: "rw", workspace: "r" },
        toolsetIds: [],
        hooks: []
      }
    })
    assert.strictEqual(directory.peek(workspace, id), view)
  })

  it("asks the database once for many who ask at once", async () => {
    const id = await agent(await profile())
    const reads = countStatements(/from agents a\s/)
    const views = await server.runtime.runPromise(
      Effect.all(
        Array.from({ length: 20 }, () => directory.agent(workspace, id)),
        { concurrency: "unbounded" }
      )
    )
    reads.stop()
    assert.strictEqual(reads.count, 1)
    assert.strictEqual(new Set(views).size, 1)
  })

  it("still answers the others when the first of many who ask at once leaves", async () => {
    const id = await agent(await profile())
    let others: ReturnType<typeof ask> | undefined
    // Whoever reads waits for the lock.
    await server.runtime.runPromise(
      server.database.atomically("test.lock", async (tx) => {
        await sql`lock table agents in access exclusive mode`.execute(tx)
        const first = server.runtime.runFork(directory.agent(workspace, id))
        others = ask(id)
        await Effect.runPromise(Fiber.interrupt(first))
      })
    )
    assert.strictEqual((await others)?.agentId, id)
  })

  it("does not find the agents of another workspace", async () => {
    const id = await agent(await profile())
    assert.isUndefined(await server.runtime.runPromise(directory.agent(server.workspaces.beta, id)))
  })

  it("sees a write of this node at once", async () => {
    const profileId = await profile()
    const following = await agent(profileId)
    const pinned = await agent(profileId, { profileVersion: 1 })
    await ask(following)
    await ask(pinned)
    await server.alpha.patch(`/v1/profiles/${profileId}`, { systemPrompt: "two" })
    assert.strictEqual((await ask(following))?.profile.systemPrompt, "two")
    assert.strictEqual((await ask(pinned))?.profile.systemPrompt, "one")
    await server.alpha.patch(`/v1/agents/${following}`, { profileVersion: 1, budget: { limit: 1, window: "total" } })
    assert.deepInclude(await ask(following), { window: "total" })
    assert.strictEqual((await ask(following))?.profile.version, 1)
    await server.alpha.delete(`/v1/agents/${following}`)
    assert.strictEqual((await ask(following))?.archived, true)
  })

  it("sees a write of another node within a second or so", async () => {
    const id = await agent(await profile())
    await ask(id)
    await server.runtime.runPromise(
      server.database.run("test", (db) => db.updateTable("agents").set({ archived_at: new Date() }).execute())
    )
    await eventually(async () => (await ask(id))?.archived === true, "it is known as archived")
  })

  it("reads agents in use again together, not each by itself every second", async () => {
    const profileId = await profile()
    const ids = [await agent(profileId, { identity: "ann" }), await agent(profileId), await agent(profileId)]
    for (const id of ids) await ask(id)
    const alone = countStatements(/where a.workspace = \$1 and a.id = \$2/)
    const together = countStatements(/join agents a on/)
    await server.alpha.patch(`/v1/agents/${ids[2]}`, { identity: "bo" })
    await ask(ids[2] ?? "")
    const read = alone.count
    await eventually(async () => {
      for (const id of ids) await ask(id)
      return together.count >= 3
    }, "they were read together three times")
    const identities = await Promise.all(ids.map(async (id) => (await ask(id))?.identity))
    together.stop()
    alone.stop()
    // This process may stand still for longer than the rest of the second, once.
    assert.isAtMost(alone.count - read, ids.length)
    assert.deepStrictEqual(identities, ["ann", undefined, "bo"])
  })

  it("sees a profile's new version, written by another node, while the agent is in use", async () => {
    const profileId = await profile()
    const id = await agent(profileId)
    await ask(id)
    await server.runtime.runPromise(
      server.database.atomically("test", async (tx) => {
        const key = toUuid(profileId)
        await sql`insert into profile_versions (workspace, profile, version, body, created_at)
          select workspace, profile, 2, (body::jsonb || '{"systemPrompt": "two"}')::json, created_at from profile_versions
            where profile = ${key} and version = 1`.execute(tx)
        await sql`update profiles set version = 2 where id = ${key}`.execute(tx)
      })
    )
    await eventually(async () => (await ask(id))?.profile.systemPrompt === "two", "it follows the new version")
  })

  it("reads the others in use again where one of them cannot be read", async () => {
    const profileId = await profile()
    const [broken = "", sound = ""] = [await agent(profileId), await agent(profileId)]
    // Read together, one has a body of a later version, and the other has got an identity.
    const later = { profile: toUuid(profileId), archived: false, version: 1 }
    const read: Database["Service"]["read"] = (statement) =>
      statement.name === "directory_agents"
        ? Effect.succeed([
            { ...later, id: toUuid(broken), identity: null, body: { name: "A", budget: 1 } } as never,
            { ...later, id: toUuid(sound), identity: "ann", body: { name: "A" } } as never
          ])
        : server.database.read(statement)
    await server.runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const cache = yield* makeAgentCache(Database.of({ ...server.database, read }))
          for (const id of [broken, sound]) yield* cache.find(workspace, id)
          cache.peek(workspace, broken)
          // By nobody alone: they are only looked for in memory.
          yield* Effect.promise(() =>
            eventually(() => cache.peek(workspace, sound)?.identity === "ann", "the other one was read again")
          )
        })
      )
    )
  })

  it("keeps versions of profiles, which never change", async () => {
    const profileId = await profile()
    const read = (version: number) => server.runtime.runPromise(directory.profile(workspace, profileId, version))
    const first = await read(1)
    assert.strictEqual(first?.systemPrompt, "one")
    assert.strictEqual(await read(1), first)
    assert.isUndefined(await read(2))
  })

  it("knows a disabled identity at once on this node", async () => {
    await server.alpha.post("/v1/identities/disable", { identity: "bo" })
    assert.isTrue(directory.identityDisabled(workspace, "bo"))
    assert.isFalse(directory.identityDisabled(server.workspaces.beta, "bo"))
    await server.alpha.post("/v1/identities/enable", { identity: "bo" })
    assert.isFalse(directory.identityDisabled(workspace, "bo"))
  })

  it("learns of one that another node disabled when the auth revision changes", async () => {
    await server.alpha.post("/v1/identities/disable", { identity: "kim" })
    directory.mark(workspace, "kim", false)
    assert.isFalse(directory.identityDisabled(workspace, "kim"))
    await server.runtime.runPromise(server.database.atomically("test", raiseAuthRevision))
    await eventually(() => directory.identityDisabled(workspace, "kim"), "the identity is known as disabled")
  })

  it("materialises an identity that it was asked about", async () => {
    directory.identityDisabled(workspace, "seen at admission")
    await eventually(
      async () => (await server.alpha.get("/v1/identities?limit=200")).text.includes("seen at admission"),
      "the sight is written"
    )
  })
})
