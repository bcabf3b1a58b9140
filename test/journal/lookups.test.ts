/** Idempotency keys and attributes that many commands ask for at once. */
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { QueryResultRow } from "pg"
import { freshId } from "../../src/seed.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { sql } from "kysely"
import type { Database } from "../../src/database/Database.ts"
import { JournalUnavailable } from "../../src/journal/Journal.ts"
import { lookups } from "../../src/journal/lookups.ts"
import { makeAgent, makeThread } from "../http/threadFixture.ts"
import { sharedServer } from "../setup/server.ts"

const server = await sharedServer()
const { alpha, beta } = server.workspaces

type Ask = Pick<Database["Service"], "query">["query"]

/** The lookups, and how many statements they took, at most how many of them at once. */
const counted = (ask: Ask = server.database.query, patienceMs?: number) => {
  const count = { statements: 0, now: 0, most: 0 }
  const query = async <Row extends QueryResultRow>(statement: Parameters<Ask>[0]) => {
    count.statements++
    count.most = Math.max(count.most, ++count.now)
    return await ask<Row>(statement).finally(() => count.now--)
  }
  return { ...lookups({ query }, patienceMs), count }
}

const together = <A, E>(asked: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.runPromise(Effect.all(asked, { concurrency: "unbounded" }))

const keep = (workspace: string, scope: string, age: string, body = `b ${scope}`) =>
  server.runtime.runPromise(
    Effect.orDie(
      server.database.run("test", (db) =>
        sql`insert into idempotency (workspace, scope, created_at, status, fingerprint, body)
          values (${toUuid(workspace)}, ${scope}, now() - ${age}::interval, 201, ${`f ${scope}`}, ${body})`.execute(db)
      )
    )
  )

describe("a burst of lookups", () => {
  it("of keys is a statement of sixty-four, one after the other, each with its own answer", async () => {
    const name = freshId("key")
    const scopes = Array.from({ length: 100 }, (_, i) => `${name} ${i}`)
    for (const scope of scopes.filter((_, i) => i % 3 === 0)) await keep(alpha, scope, "1 hour")
    const { count, key } = counted()
    const rows = await together(scopes.map((scope) => key(alpha, scope)))
    assert.deepStrictEqual(
      rows,
      scopes.map((scope, i) =>
        i % 3 === 0 ? { body: `b ${scope}`, fingerprint: `f ${scope}`, scope, status: 201 } : undefined
      )
    )
    assert.strictEqual(count.statements, 2)
    assert.strictEqual(count.most, 1)
  })

  it("finds no key of another workspace, and none that is older than a day", async () => {
    const [young, old] = [freshId("key"), freshId("key")]
    await keep(alpha, young, "23 hours 59 minutes")
    await keep(alpha, old, "24 hours 1 second")
    const { key } = counted()
    const [own, foreign, late] = await together([key(alpha, young), key(beta, young), key(alpha, old)])
    assert.strictEqual(own?.scope, young)
    assert.isUndefined(foreign)
    assert.isUndefined(late)
  })

  it("of attributes is a statement too; an actor of another workspace has none", async () => {
    const id = await makeThread(server.alpha, await makeAgent(server.alpha))
    const { attributes, count } = counted()
    const mine = { kind: "thread", workspace: alpha, id }
    const asked = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? mine : { ...mine, workspace: beta }))
    const rows = await together(asked.map((actor) => attributes(actor)))
    for (const [i, row] of rows.entries()) {
      if (i % 2 === 0) assert.strictEqual(row?.version, 1)
      else assert.isUndefined(row)
    }
    assert.strictEqual(count.statements, 1)
  })

  it("fails for all who asked while the database is away, and asks anew for the next", async () => {
    let away = true
    const { key } = counted((statement) =>
      away ? Promise.reject(new Error("Connection terminated unexpectedly")) : server.database.query(statement)
    )
    const failures = await together(Array.from({ length: 3 }, () => Effect.flip(key(alpha, freshId("key")))))
    for (const failure of failures) assert.instanceOf(failure, JournalUnavailable)
    away = false
    assert.deepStrictEqual(await together([key(alpha, freshId("key"))]), [undefined])
  })

  it("of large answers takes a statement for each mebibyte, the shortest first; the oldest's comes in any case", async () => {
    const name = freshId("key")
    const sizes = [400_000, 400_000, 400_000, 1_200_000, 10]
    const bodies = sizes.map((size, i) => String(i).repeat(size))
    for (const [i, body] of bodies.entries()) await keep(alpha, `${name} ${i}`, "1 hour", body)
    const { count, key } = counted()
    const rows = await together(bodies.map((_, i) => key(alpha, `${name} ${i}`)))
    assert.isTrue(rows.every((row, i) => row?.body === bodies[i]))
    assert.strictEqual(count.statements, 3)
    assert.strictEqual(count.most, 1)
  })

  it("of large answers lets what others ask meanwhile pass", async () => {
    const name = freshId("key")
    const bodies = Array.from({ length: 8 }, (_, i) => String(i).repeat(1_000_000))
    for (const [i, body] of bodies.entries()) await keep(alpha, `${name} ${i}`, "1 hour", body)
    const begun = Promise.withResolvers<void>()
    const { count, key } = counted((statement) => {
      begun.resolve()
      return server.database.query(statement)
    })
    const large = together(bodies.map((_, i) => key(alpha, `${name} ${i}`)))
    await begun.promise
    await together([key(beta, freshId("key"))])
    assert.isAtMost(count.statements, 3)
    assert.isTrue((await large).every((row, i) => row?.body === bodies[i]))
    assert.strictEqual(count.statements, 8)
  })

  it("of a large answer ends, however many short ones keep coming", async () => {
    const name = freshId("key")
    const shorts = Array.from({ length: 60 }, (_, i) => `${name} ${i}`)
    for (const scope of shorts) await keep(alpha, scope, "1 hour", "s".repeat(2_000))
    await keep(alpha, name, "1 hour", "l".repeat(1_000_000))
    const replays: Array<Promise<unknown>> = []
    const { count, key } = counted((statement) => {
      if (replays.length < 10) replays.push(together(shorts.map((scope) => key(alpha, scope))))
      return server.database.query(statement)
    })
    const [large] = await together([key(alpha, name), ...shorts.map((scope) => key(alpha, scope))])
    assert.lengthOf(large?.body ?? "", 1_000_000)
    assert.isAtMost(count.statements, 3)
    await Promise.all(replays)
  })

  it("of answers of one length gives them by the age of their lookups, whatever comes meanwhile", async () => {
    const name = freshId("key")
    await keep(alpha, name, "1 hour", "e".repeat(600_000))
    let asked = 0
    const answered: Array<number> = []
    const ask = () => {
      const place = asked++
      return together([Effect.map(key(alpha, name), () => answered.push(place))])
    }
    const replays: Array<Promise<unknown>> = []
    const { key } = counted((statement) => {
      if (asked < 20) replays.push(ask())
      return server.database.query(statement)
    })
    for (let i = 0; i < 10; i++) replays.push(ask())
    while (answered.length < 20) await Promise.all(replays)
    assert.deepStrictEqual(
      answered,
      Array.from({ length: 20 }, (_, i) => i)
    )
  })

  it("fails where its group begins later than anybody waits for a connection", async () => {
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const patienceMs = 50
    const { count, key } = counted(async (statement) => {
      begun.resolve()
      await held.promise
      return server.database.query(statement)
    }, patienceMs)
    const first = together([key(alpha, freshId("key"))])
    await begun.promise
    const since = performance.now()
    const second = together([Effect.flip(key(alpha, freshId("key")))])
    while (performance.now() - since < 2 * patienceMs) await setTimeout(5)
    held.resolve()
    assert.deepStrictEqual(await first, [undefined])
    assert.instanceOf((await second)[0], JournalUnavailable)
    assert.strictEqual(count.statements, 1)
  })
})
