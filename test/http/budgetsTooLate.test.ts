/** Reservations that come in too late for the append that tells of their calls' end (B7 of Budgets.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import pg from "pg"
import { Registries } from "../../actors/Registries.ts"
import { Database, type Statement } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type Append, Journal, JournalUnavailable } from "../../src/journal/Journal.ts"
import { openaiResponses } from "../models/servers/openaiResponses.ts"
import { startServer as startProvider } from "../models/servers/server.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { ended, logOf, makeThread, submit } from "./threadFixture.ts"
import { fresh, makeWorker } from "./toolFixture.ts"

const paid = "troupe/scripted-paid"
const priced = "openai/priced"

/** What becomes of one append: nobody hears whether it happened. */
let unanswered: { readonly actorId: string; readonly happens: boolean } | undefined
const journal = Layer.effect(
  Journal,
  Effect.map(Journal, (journal) =>
    Journal.of({
      ...journal,
      append: (append: Append) =>
        Effect.suspend(() => {
          const fault = unanswered?.actorId === append.actor.id ? unanswered : undefined
          if (fault === undefined) return journal.append(append)
          unanswered = undefined
          const unknown = Effect.fail(new JournalUnavailable({ cause: "test" }))
          return fault.happens ? Effect.andThen(journal.append(append), unknown) : unknown
        })
    })
  )
)
/** What the statements that set aside meet, one after the other, before they reach the database. */
let met: Array<() => Promise<void>> = []
let askedAt = 0
/** How many of them have come in. */
let cameIn = 0
const database = Layer.effect(
  Database,
  Effect.map(Database, (database) =>
    Database.of({
      ...database,
      query: async <Row extends pg.QueryResultRow>(statement: Statement) => {
        askedAt = performance.now()
        if (statement.name !== "reserve_costs") return database.query<Row>(statement)
        await met.shift()?.()
        const rows = await database.query<Row>(statement)
        cameIn++
        return rows
      }
    })
  )
)
const provider = await during(startProvider(openaiResponses))
const server = await during(
  startServer({
    database,
    journal,
    models: {
      env: { SOME_KEY: "test-key" },
      modelsFile: {
        models: [
          {
            id: priced,
            name: "gpt-5",
            baseUrl: `${provider.url}/v1`,
            apiKeyEnv: "SOME_KEY",
            pricing: { input: 1, output: 2 }
          }
        ]
      }
    }
  })
)

const run = async <A>(statement: ReturnType<typeof sql<A>>) =>
  (await server.runtime.runPromise(server.database.run("test", (db) => statement.execute(db)))).rows
const reservationsOf = (agentId: string) =>
  run<{ readonly prompt: number }>(sql`select prompt from reservations where subject = ${toUuid(agentId)}`)
const spentBy = async (agentId: string) => {
  const [row = assert.fail()] = await run<{ readonly spent: number }>(
    sql`select coalesce(sum(amount), 0)::float8 as spent from spent where subject = ${toUuid(agentId)}`
  )
  return row.spent
}
const connected = async () => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return { query: client.query.bind(client), [Symbol.asyncDispose]: () => client.end() }
}

/** Whoever sets aside for the agent waits meanwhile. */
const holdingBack = async (agentId: string) => {
  const client = await connected()
  const key = `spends ${toUuid(agentId)}`
  await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [key])
  const holders = (granted: boolean) =>
    run(sql`select from pg_locks where locktype = 'advisory' and granted = ${granted}
      and (classid::bigint << 32 | objid::bigint) = hashtextextended(${key}, 0)`)
  return {
    waiting: () => eventually(async () => (await holders(false)).length === 1, "its call waits to be paid for"),
    letGo: async () => {
      assert.lengthOf(await holders(false), 1)
      await client[Symbol.asyncDispose]()
      await eventually(async () => (await holders(true)).length === 0, "it is paid for, too late")
    }
  }
}

const owedThreads = () =>
  server.runtime.runPromise(Effect.map(Registries, (registries) => registries.of("thread")?.owed()))

const nothingIsLeft = (agentId: string) =>
  eventually(async () => (await reservationsOf(agentId)).length === 0, "nothing is set aside", 5_000)

describe("a call that is cut off while it is being set aside for", () => {
  /** A thread whose call waits to be paid for. */
  const waitingCall = async () => {
    const agentId = await makeWorker(server.alpha, { models: [paid] })
    const threadId = await makeThread(server.alpha, agentId)
    const { letGo, waiting } = await holdingBack(agentId)
    await submit(server.alpha, threadId, "/wait 600s\nlate")
    await waiting()
    return { agentId, letGo, cancel: `/v1/threads/${threadId}/cancel`, threadId }
  }
  const isOver = async ({ agentId, letGo, threadId }: Awaited<ReturnType<typeof waitingCall>>) => {
    await logOf(server.alpha, threadId, ended(1))
    await letGo()
    await nothingIsLeft(agentId)
    assert.strictEqual(await spentBy(agentId), 0)
  }

  it("leaves nothing set aside, and costs nothing", async () => {
    const call = await waitingCall()
    assert.strictEqual((await server.alpha.post(call.cancel)).status, 200)
    await isOver(call)
  })

  it("leaves nothing either where nobody heard that its turn's end was written", async () => {
    const call = await waitingCall()
    unanswered = { actorId: call.threadId, happens: true }
    assert.strictEqual((await server.alpha.post(call.cancel)).status, 503)
    assert.strictEqual((await server.alpha.post(call.cancel)).status, 200)
    await isOver(call)
  })

  it("leaves nothing either where nobody asked for its thread after that", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const agentId = await makeWorker(server.alpha, { models: [paid] })
    const threadId = await makeThread(server.alpha, agentId)
    const [before, reads] = [cameIn, met.push(() => promise)]
    await submit(server.alpha, threadId, "/wait 600s\nlate")
    await eventually(() => met.length < reads, "its call is set aside for")
    unanswered = { actorId: threadId, happens: true }
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 503)
    await eventually(async () => (await owedThreads()) === 1, "its thread is owed")
    await eventually(async () => (await owedThreads()) === 0, "it is owed no more", 10_000)
    resolve()
    await eventually(() => cameIn > before, "it is set aside, too late")
    await nothingIsLeft(agentId)
    assert.strictEqual(await spentBy(agentId), 0)
  })

  it("leaves nothing either where its thread has left memory before, and come back", async () => {
    const call = await waitingCall()
    unanswered = { actorId: call.threadId, happens: false }
    const content = [{ type: "text", text: "next" }]
    await server.alpha.post(`/v1/threads/${call.threadId}/messages`, { content })
    assert.isUndefined(unanswered)
    assert.strictEqual((await server.alpha.post(call.cancel, { clearQueue: true })).status, 200)
    await isOver(call)
  })

  it("leaves nothing either where another call's attempt outlasted its first", async () => {
    const [first, call, other] = await Promise.all(
      ["first", "late", "other"].map(async (text) => {
        const agentId = await makeWorker(server.alpha, { models: [paid] })
        const threadId = await makeThread(server.alpha, agentId)
        return { agentId, threadId, start: () => submit(server.alpha, threadId, `/wait 600s\n${text}`) }
      })
    )
    if (first === undefined || call === undefined || other === undefined) return assert.fail()
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>())
    const slow = () => Promise.reject(new Error("Query read timeout"))
    const gate = (i: number) => () => gates[i]?.promise ?? slow()
    // The second statement is that of both, the third and the fourth those of its halves, the fifth the call's again.
    met = [gate(0), slow, slow, gate(1), gate(2)]
    await first.start()
    await eventually(() => met.length === 4, "the first waits for the database")
    // The call's half comes first because the call does.
    for (const { start } of [call, other]) {
      await start()
      await eventually(() => performance.now() - askedAt > 100, "it waits for the next statement")
    }
    gates[0]?.resolve()
    await eventually(() => met.length === 1, "the call's attempt has failed, the other's waits for the database")
    await eventually(() => performance.now() - askedAt > 300, "the call waits for its next attempt's statement")
    gates[1]?.resolve()
    await eventually(() => met.length === 0, "its next attempt waits for the database")
    assert.strictEqual((await server.alpha.post(`/v1/threads/${call.threadId}/cancel`)).status, 200)
    await logOf(server.alpha, call.threadId, ended(1))
    await eventually(() => performance.now() - askedAt > 100, "nothing more is asked")
    const before = cameIn
    gates[2]?.resolve()
    await eventually(() => cameIn > before, "it is paid for, too late")
    await nothingIsLeft(call.agentId)
    assert.strictEqual(await spentBy(call.agentId), 0)
    for (const { threadId } of [first, other]) await server.alpha.post(`/v1/threads/${threadId}/cancel`)
  })

  it("leaves nothing as a screen whose end nobody heard to be written", async () => {
    const agentId = await makeWorker(server.alpha, { models: [paid] })
    const feedId: string = (await server.alpha.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const subscription = { feedId, screen: { model: paid } }
    const made = await server.alpha.post(`/v1/agents/${agentId}/subscriptions`, subscription)
    const path = `/v1/subscriptions/${made.body.id}`
    const { letGo, waiting } = await holdingBack(agentId)
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "look\n/wait 600s" }] })
    await waiting()
    unanswered = { actorId: made.body.id, happens: true }
    assert.strictEqual((await server.alpha.patch(path, { enabled: false })).status, 503)
    assert.strictEqual((await server.alpha.patch(path, { condition: "false" })).status, 200)
    await letGo()
    await nothingIsLeft(agentId)
    assert.strictEqual(await spentBy(agentId), 0)
  })
})

describe("a call that was made while its turn's end was being written", () => {
  it("costs its prompt's price, as each that is cut off", async () => {
    const agentId = await makeWorker(server.alpha, { models: [priced] })
    const threadId = await makeThread(server.alpha, agentId, { maxCost: 1 })
    const before = provider.requests.length
    provider.enqueue({ kind: "hang" })
    await using writing = await connected()
    const { letGo, waiting } = await holdingBack(agentId)
    await submit(server.alpha, threadId, "x".repeat(4_000))
    await waiting()
    await writing.query("begin")
    await writing.query("select from heads where id = $1 for update", [toUuid(threadId)])
    const cancelled = server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const writers = sql`select from pg_stat_activity where datname = current_database()
      and application_name = 'troupe writer' and wait_event_type = 'Lock'`
    await eventually(async () => (await run(writers)).length === 1, "the append has begun")
    await letGo()
    await eventually(() => provider.requests.length === before + 1, "the provider is asked")
    const [{ prompt } = assert.fail()] = await reservationsOf(agentId)
    await writing.query("commit")
    assert.strictEqual((await cancelled).status, 200)
    await nothingIsLeft(agentId)
    assert.strictEqual(await spentBy(agentId), prompt)
    const [thread] = await run<{ readonly amount: number }>(
      sql`select amount from thread_spend where thread = ${toUuid(threadId)}`
    )
    assert.strictEqual(thread?.amount, prompt)
  })
})
