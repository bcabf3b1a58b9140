/**
 * Commits whose answers are lost, of what lives in rows alone: appends to feeds, deliveries of webhooks and what disables
 * them. Before the commit, or after it, whoever waits for it hears of a lost connection, which is all that a crash leaves
 * of these: no node keeps anything else of them.
 *
 * Y1. The client asks again under its key, and what was sent is there once.
 * Y2. What was taken and not told of is sent again after a minute, under the same id: at least once, and told of.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import type pg from "pg"
import { Database, DatabaseUnavailable, type Statement } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { draws } from "../actors/crashes.ts"
import { json, type Reply, startHookServer, status } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { logOf, makeAgent } from "./threadFixture.ts"
import { fresh, only } from "./toolFixture.ts"

interface Loss {
  readonly commit: number
  readonly fault: "before" | "after"
}

/** Of one scenario at a time: its commits so far, and which of them is lost. */
const losses = { commits: [] as Array<string>, loss: undefined as Loss | undefined }
const isCounted = (name: string) => /^(feed\.append|webhook)/.test(name)
const lossOf = (name: string) => {
  losses.commits.push(name)
  return losses.loss?.commit === losses.commits.length ? losses.loss.fault : undefined
}
const lost = () => new Error("Connection terminated unexpectedly")

const losing = Layer.effect(
  Database,
  Effect.gen(function* () {
    const database = yield* Database
    const failed = (operation: string) => Effect.fail(new DatabaseUnavailable({ operation, cause: lost() }))
    return Database.of({
      ...database,
      atomically: (operation, work) =>
        Effect.suspend(() => {
          const fault = isCounted(operation) ? lossOf(operation) : undefined
          if (fault === undefined) return database.atomically(operation, work)
          return fault === "before"
            ? failed(operation)
            : Effect.andThen(database.atomically(operation, work), failed(operation))
        }),
      // A look that finds nothing commits nothing.
      read: <Row extends pg.QueryResultRow>(statement: Statement) =>
        Effect.flatMap(database.read<Row>(statement), (rows) =>
          statement.name === "webhooks_due" && rows.length > 0 && lossOf(statement.name) !== undefined
            ? failed(statement.name)
            : Effect.succeed(rows)
        ),
      query: async <Row extends pg.QueryResultRow>(statement: Statement) => {
        const fault = statement.name === "webhooks_told" ? lossOf(statement.name) : undefined
        if (fault === "before") throw lost()
        const rows = await database.query<Row>(statement)
        if (fault === "after") throw lost()
        return rows
      }
    })
  })
)

const hooks = await during(startHookServer())
const server = await during(startServer({ database: losing }))

interface Space {
  readonly workspace: string
  readonly client: Client
  /** Y1. */
  readonly post: (path: string, body?: object) => Promise<any>
}
const space = async (): Promise<Space> => {
  const workspace = await server.workspace(fresh("lost"))
  const client = await server.client(workspace)
  return {
    workspace,
    client,
    post: async (path, body = {}) => {
      const key = { "idempotency-key": fresh("key") }
      const answer = await until(`${path} is answered`, async () => {
        const answer = await client.send("POST", path, body, key)
        return answer.status !== 503 && answer
      })
      assert.isBelow(answer.status, 300, answer.text)
      return answer.body
    }
  }
}

const ok: Reply = json({}, 204)

/** A webhook and an event for it, whose endpoint answers so, one answer after the other; the last one stays. */
const told = async ({ client, post, workspace }: Space, ...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => {
  let calls = 0
  const endpoint = hooks.endpoint((response, one) =>
    (replies[Math.min(calls++, replies.length - 1)] ?? ok)(response, one)
  )
  const { webhook } = await post("/v1/webhooks", { url: endpoint.url, events: ["turn.completed"] })
  const path = `/v1/webhooks/${webhook.id}`
  const begin = async () => (await post(`${path}/test`)).delivery.eventId as string
  /** As if the minute after a loss, or the pause after a failure, were over. */
  const hurry = () =>
    server.query(sql`update webhook_deliveries set next_at = now()
      where workspace = ${toUuid(workspace)}::uuid and state = 'pending'`)
  return {
    webhookId: webhook.id as string,
    begin,
    endpoint,
    shown: async () => (await client.get(path)).body.webhook,
    ended: (state: string) =>
      until(state, async () => {
        const { deliveries } = (await client.get(`${path}/deliveries`)).body
        assert.lengthOf(deliveries, 1)
        if (deliveries[0].state === state) return deliveries[0]
        await hurry()
        return undefined
      })
  }
}

/** Whatever was sent is the one event. */
const isOneEvent = (
  received: ReadonlyArray<{ readonly headers: { readonly [name: string]: unknown } }>,
  id: string
) => {
  assert.isAbove(received.length, 0)
  for (const { headers } of received) assert.strictEqual(headers["webhook-id"], id)
}

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  "appends to a feed, of which some match a subscription": async () => {
    const { client, post } = await space()
    const agentId = await makeAgent(client)
    const feedId = (await post("/v1/feeds", { name: fresh("feed") })).feed.id
    const condition = `text.startsWith("yes")`
    await post(`/v1/agents/${agentId}/subscriptions`, { feedId, condition, target: { mode: "reuse" } })
    const append = (...messages: ReadonlyArray<object>) => post(`/v1/feeds/${feedId}/messages`, { messages })
    const ends = [
      (await append({ text: "yes 1" }, { text: "no 2" })).endSeq,
      (await append({ text: "yes 3", dedupeKey: "three" })).endSeq,
      (await append({ text: "yes 3 again", dedupeKey: "three" }, { text: "no 4" })).endSeq
    ]
    assert.deepStrictEqual(ends, [2, 3, 4])
    const { messages } = (await client.get(`/v1/feeds/${feedId}/messages`)).body
    assert.deepStrictEqual(
      messages.map(({ seq, text }: { readonly seq: number; readonly text: string }) => `${seq} ${text}`),
      ["1 yes 1", "2 no 2", "3 yes 3", "4 no 4"]
    )
    const seqs = await until("both are handed over", async () => {
      const { threads } = (await client.get(`/v1/threads?agentId=${agentId}`)).body
      if (threads.length === 0) return undefined
      const log = await logOf(client, threads[0].thread.id, (log) => log.length > 0)
      const found = only(log, "user_message").flatMap(({ content }: any) =>
        [...content[0].text.matchAll(/^#(\d+) /gm)].map(([, seq]) => Number(seq))
      )
      return found.length >= 2 && found
    })
    assert.deepStrictEqual(seqs, [1, 3])
  },
  "a delivery": async () => {
    const { begin, ended, endpoint } = await told(await space(), ok)
    const eventId = await begin()
    assert.include(await ended("delivered"), { lastStatus: 204 })
    isOneEvent(endpoint.received(), eventId)
  },
  "a delivery that is taken at the second attempt": async () => {
    const { begin, ended, endpoint, shown } = await told(await space(), status(500), ok)
    const eventId = await begin()
    await ended("delivered")
    isOneEvent(endpoint.received(), eventId)
    assert.isAtLeast(endpoint.received().length, 2)
    assert.include(await shown(), { status: "active" })
  },
  "an endpoint that is gone": async () => {
    const { begin, ended, endpoint, shown } = await told(await space(), status(410))
    const eventId = await begin()
    await ended("failed")
    isOneEvent(endpoint.received(), eventId)
    // Nothing of it is on its way any more: who is told of the one is told of the other.
    assert.include(await shown(), { status: "disabled", disabledReason: "gone" })
  },
  "an endpoint that has failed for too long": async () => {
    const { begin, ended, endpoint, shown, webhookId } = await told(await space(), status(500))
    const { webhookFailingSeconds: seconds, webhookFailures: count } = limits
    await server.query(sql`update webhooks set failures = ${count - 1}, failing_since = now() - make_interval(secs => ${seconds})
      where id = ${toUuid(webhookId)}::uuid`)
    const eventId = await begin()
    await ended("failed")
    isOneEvent(endpoint.received(), eventId)
    assert.include(await shown(), { status: "disabled", disabledReason: "failures" })
  }
}

const { drawn, isDrawn } = draws()

describe("whichever commit is lost, what was sent is there once, and what was to be told is told:", () => {
  it.each(Object.entries(scenarios))("%s", { timeout: 240_000 }, async (name, does) => {
    const attempt = async (loss?: Loss) => {
      losses.commits = []
      losses.loss = loss
      await does()
      return losses.commits
    }
    const commits = await attempt()
    assert.isAbove(commits.length, 1)
    const all = commits.flatMap((_, i) =>
      (["before", "after"] as const).map((fault): Loss => ({ commit: i + 1, fault }))
    )
    const left = all.filter(() => isDrawn())
    console.log(`lost commits of ${name}: ${left.length} of ${all.length} ${drawn}`)
    for (const loss of left)
      await attempt(loss).catch((cause: unknown) => {
        throw new Error(`${loss.fault} commit ${loss.commit}, ${losses.commits[loss.commit - 1]}: ${String(cause)}`, {
          cause
        })
      })
  })
})
