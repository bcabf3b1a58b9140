/** What an append tells webhooks of: there together with its facts, or not at all. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { toUuid } from "../../src/domain/ids.ts"
import type { ActorRef, Append, Head } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { type Announcement, announcement } from "../../src/webhooks/event.ts"
import { during } from "../setup/during.ts"
import { postgresWorld } from "../contract/journals.ts"

const world = await during(postgresWorld())

const at = Date.now()
const head = (rev: number): Head => ({
  pos: 0,
  seq: 0,
  rev,
  status: "idle",
  runnableAt: null,
  since: null,
  carry: "{}",
  updatedAt: at
})
const birth = (actor: ActorRef): Append => ({
  actor,
  epoch: 1,
  rev: 0,
  head: head(1),
  facts: [],
  birth: { parent: freshId("agent"), attributes: "{}" }
})
const telling = (actor: ActorRef, rev: number, ...announces: ReadonlyArray<Announcement>): Append => ({
  actor,
  epoch: 1,
  rev,
  head: head(rev + 1),
  facts: [],
  announces
})

/** A workspace with webhooks, each of them for these events. */
const space = async (...webhooks: ReadonlyArray<ReadonlyArray<string>>) => {
  const workspace = freshId("workspace")
  for (const events of webhooks)
    await world.sql(
      `insert into webhooks (workspace, id, url, events, enabled, sealed, created_at, created_by, updated_at)
        values ($1, $2, 'https://receiver.example/', $3, true, '', now(), '{}', now())`,
      [toUuid(workspace), toUuid(freshId("webhook")), events]
    )
  const thread = (): ActorRef => ({ workspace, kind: "thread", id: freshId("thread") })
  const event = (type: "turn.completed" | "turn.failed" = "turn.completed") => announcement(workspace, type, {}, at)
  const told = async () => {
    const rows = await world.sql(
      `select e.id, count(d.id)::int as deliveries from webhook_events e
        left join webhook_deliveries d on d.workspace = e.workspace and d.event = e.id
        where e.workspace = $1 group by e.id`,
      [toUuid(workspace)]
    )
    return rows.map(({ deliveries, id }) => [id, deliveries])
  }
  return { event, thread, told }
}

describe("an append with events", () => {
  it.live.each(["before", "after"] as const)(
    "that has won tells of them once, one that has lost never, also where the connection is lost %s the commit",
    (when) =>
      Effect.gen(function* () {
        const { event, thread, told } = yield* Effect.promise(() => space(["turn.completed"], ["turn.completed"]))
        const { journal } = yield* world.open("a")
        const [first, second, late] = [thread(), thread(), thread()]
        for (const actor of [first, second, late]) yield* journal.append(birth(actor))
        const [one, other, never] = [event(), event(), event()]
        world.lose(when)
        const exits = yield* Effect.all(
          [telling(first, 1, one), telling(late, 9, never), telling(second, 1, other)].map((append) =>
            Effect.exit(journal.append(append))
          ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
        assert.sameDeepMembers(yield* Effect.promise(told), [
          [toUuid(one.id), 2],
          [toUuid(other.id), 2]
        ])
      }).pipe(Effect.scoped)
  )

  it.live("writes nothing of what nobody wants to know", () =>
    Effect.gen(function* () {
      const { event, thread, told } = yield* Effect.promise(() => space(["turn.completed"]))
      const { journal } = yield* world.open("a")
      const actor = thread()
      yield* journal.append(birth(actor))
      const wanted = event()
      yield* journal.append(telling(actor, 1, wanted, event("turn.failed")))
      assert.deepStrictEqual(yield* Effect.promise(told), [[toUuid(wanted.id), 1]])
    }).pipe(Effect.scoped)
  )
})
