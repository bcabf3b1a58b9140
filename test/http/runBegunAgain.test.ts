/**
 * A run whose node dies behind the submit, and whose schedule names another thread before somebody takes over: what has
 * taken its message is its thread, whatever the schedule says by then.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { Journal, Superseded } from "../../src/journal/Journal.ts"
import { startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { logOf, makeAgent, makeThread, text } from "./threadFixture.ts"
import { only } from "./toolFixture.ts"

/** The journal of a node that dies before the first run is told of, and is taken over from once `changed`. */
const dying = (died: PromiseWithResolvers<void>, changed: Promise<void>) => {
  let isDead = false
  return Layer.effect(
    Journal,
    Effect.gen(function* () {
      const database = yield* Database
      const journal = yield* Journal
      const owner = (id: string) =>
        database.run("test.owner", (db) =>
          db.selectFrom("heads").select("owner").where("id", "=", toUuid(id)).executeTakeFirst()
        )
      const orphan = (id: string) =>
        database.run("test.orphan", (db) =>
          sql`with lost as (update heads set owner = null, epoch = epoch + 1 where id = ${toUuid(id)}::uuid
              returning id, runnable_at)
            insert into agenda (at, actors) select runnable_at, array[id] from lost
              where runnable_at is not null`.execute(db)
        )
      const die = Effect.fnUntraced(function* (id: string) {
        died.resolve()
        yield* Effect.promise(() => changed)
        yield* Effect.orDie(orphan(id))
        for (let i = 0; i < 100 && (yield* Effect.orDie(owner(id)))?.owner === null; i++) yield* Effect.sleep(50)
      })
      return Journal.of({
        ...journal,
        append: (append) =>
          Effect.suspend(() => {
            const { actor, facts } = append
            if (isDead || actor.kind !== "schedule" || !facts.some(({ type }) => type === "ran"))
              return journal.append(append)
            isDead = true
            return Effect.andThen(die(actor.id), Effect.fail(new Superseded({ actor })))
          })
      })
    })
  )
}

describe("a run that is begun again", () => {
  it("is that of the thread which has taken its message, whatever its schedule names by then", async () => {
    const [died, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const options = { idleMs: 100, journal: dying(died, changed.promise) }
    const first = await startServer(options)
    const second = await startServer({ ...options, beside: first, name: "second" })
    try {
      const client = first.alpha
      const agentId = await makeAgent(client)
      const threadId = await makeThread(client, agentId)
      const made = await client.post(`/v1/agents/${agentId}/schedules`, {
        name: "S",
        trigger: { type: "once", at: new Date(Date.now() + 700).toISOString() },
        target: { mode: "thread", threadId },
        message: { content: text("go") }
      })
      assert.strictEqual(made.status, 201, made.text)
      const path = `/v1/agents/${agentId}/schedules/${made.body.schedule.id}`
      await died.promise
      const patched = await client.patch(path, { target: { mode: "spawn" } })
      assert.strictEqual(patched.status, 200, patched.text)
      changed.resolve()
      const run = await until("the run has an outcome", async () => {
        const [found] = (await client.get(`${path}/runs`)).body.runs
        return found?.status !== "starting" && found
      })
      assert.include(run, { status: "started", threadId })
      assert.lengthOf(only(await logOf(client, threadId, (log) => log.length > 0), "user_message"), 1)
      assert.lengthOf((await client.get(`/v1/threads?agentId=${agentId}`)).body.threads, 1)
      assert.strictEqual((await client.get(path)).body.schedule.disabledReason, "finished")
    } finally {
      await second.stop()
      await first.stop()
    }
  })
})
