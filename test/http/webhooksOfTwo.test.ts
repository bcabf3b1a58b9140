/** Webhooks of a cluster: whoever made one is told of what happens on any node from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import { Database, DatabaseUnavailable } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { fresh } from "./toolFixture.ts"

/** What goes wrong with reads of this operation, from when it is set. */
type Trouble = { readonly operation: string; readonly with: Effect.Effect<void, DatabaseUnavailable> } | undefined

/** A node's database, whose answers meet trouble. */
const troubled = (trouble: () => Trouble) =>
  Layer.effect(
    Database,
    Effect.map(Database, (database) =>
      Database.of({
        ...database,
        run: (operation, work) =>
          Effect.tap(database.run(operation, work), () => {
            const now = trouble()
            return now?.operation === operation ? now.with : Effect.void
          })
      })
    )
  )

let ofFirst: Trouble
let ofSecond: Trouble
const first = await during(startServer({ database: troubled(() => ofFirst) }))
const second = await during(startServer({ beside: first, name: "second", database: troubled(() => ofSecond) }))

const run = async <A>(statement: ReturnType<typeof sql<A>>) =>
  (await first.runtime.runPromise(first.database.run("test", (db) => statement.execute(db)))).rows
const knows = ({ runtime }: typeof first, workspace: string) =>
  runtime.runPromise(Effect.map(WebhookInterest, (interest) => interest.has(workspace)))

const input = { url: "https://receiver.example/hook", events: ["turn.completed"] }
const making = async () => {
  const workspace = await first.workspace(fresh("hooks"))
  const client = await first.client(workspace)
  return { workspace, client, answer: client.post("/v1/webhooks", input) }
}

/** Answers are held from now on: how many are, and what lets them go. */
const holding = () => {
  const gate = Promise.withResolvers<void>()
  let held = 0
  const wait = Effect.promise(() => {
    held++
    return gate.promise
  })
  return { wait, held: () => held, letGo: () => gate.resolve() }
}

describe("a webhook", () => {
  it("that is made, or enabled, is known to every node when that is answered", async () => {
    const { answer, client, workspace } = await making()
    const made = await answer
    assert.strictEqual(made.status, 201, made.text)
    assert.deepStrictEqual([await knows(first, workspace), await knows(second, workspace)], [true, true])
    const path = `/v1/webhooks/${made.body.webhook.id}`
    assert.strictEqual((await client.patch(path, { enabled: false })).status, 200)
    assert.deepStrictEqual(await knows(second, workspace), false)
    assert.strictEqual((await client.patch(path, { enabled: true })).status, 200)
    assert.deepStrictEqual(await knows(second, workspace), true)
  })

  it("is answered for when a node has read of it, not when that has only beaten", async () => {
    const { held, letGo, wait } = holding()
    ofSecond = { operation: "webhooks.interest", with: wait }
    const { answer, workspace } = await making()
    let answered = false
    void answer.then(() => {
      answered = true
    })
    await eventually(() => held() === 1, "the second node has asked, and has no answer")
    await second.runtime.runPromise(Effect.flatMap(Lease, ({ beat }) => beat))
    let looks = 0
    ofFirst = { operation: "webhooks.unaware", with: Effect.sync(() => void looks++) }
    await eventually(() => looks > 4, "whoever made it looks on")
    ofFirst = undefined
    assert.deepStrictEqual([answered, await knows(second, workspace)], [false, false])
    ofSecond = undefined
    letGo()
    assert.strictEqual((await answer).status, 201)
    assert.isTrue(await knows(second, workspace))
  })

  it.each<[string, Effect.Effect<never, DatabaseUnavailable>]>([
    ["is not there", Effect.fail(new DatabaseUnavailable({ operation: "webhooks.interest", cause: "test" }))],
    ["says what nobody has thought of", Effect.die(new Error("permission denied"))]
  ])("is known to a node whose database %s once, and so is the next", async (_, trouble) => {
    ofSecond = {
      operation: "webhooks.interest",
      with: Effect.suspend(() => {
        ofSecond = undefined
        return trouble
      })
    }
    for (const { answer, workspace } of [await making(), await making()]) {
      assert.strictEqual((await answer).status, 201)
      assert.isTrue(await knows(second, workspace))
    }
    assert.isUndefined(ofSecond)
  })

  it.each([
    ["fails", Effect.fail(new DatabaseUnavailable({ operation: "webhooks.unaware", cause: "test" }))],
    ["breaks", Effect.die("test")]
  ])("is answered for when every node knows, though the question whether they do %s once", async (_, trouble) => {
    let met = 0
    ofFirst = {
      operation: "webhooks.unaware",
      with: Effect.suspend(() => {
        ofFirst = undefined
        met++
        return trouble
      })
    }
    const { answer, workspace } = await making()
    assert.strictEqual((await answer).status, 201)
    assert.deepStrictEqual([met, await knows(second, workspace)], [1, true])
  })

  it("is known to a node that joined meanwhile, and whose first read came before it", async () => {
    const { held, letGo, wait } = holding()
    let ofThird: Trouble = { operation: "webhooks.interest", with: wait }
    const starting = startServer({ beside: first, name: "third", database: troubled(() => ofThird) })
    await eventually(() => held() === 1, "the third node has read")
    const { answer, workspace } = await making()
    await eventually(
      async () => (await run(sql`select from webhooks where workspace = ${toUuid(workspace)}`)).length === 1,
      "it is made"
    )
    const [{ now } = assert.fail()] = await run<{ readonly now: Date }>(sql`select clock_timestamp() as now`)
    await eventually(
      async () => (await run(sql`select from nodes where name = 'third' and beaten_at > ${now}`)).length === 1,
      "the third node has beaten"
    )
    ofThird = undefined
    letGo()
    assert.strictEqual((await answer).status, 201)
    const third = await starting
    assert.isTrue(await knows(third, workspace))
    await third.stop()
  })

  it("is told of what happens on a node that had lapsed, and has joined again, and not read since", async () => {
    const { held, letGo, wait } = holding()
    ofSecond = { operation: "webhooks.interest", with: wait }
    const lapsed = await second.runtime.runPromise(Effect.map(Lease, (lease) => lease.incarnation()))
    const workspace = await first.workspace(fresh("hooks"))
    const client = await first.client(workspace)
    await run(sql`update nodes set deadline = clock_timestamp() - interval '1 ms' where name = 'second'`)
    assert.strictEqual((await client.post("/v1/webhooks", input)).status, 201)
    await eventually(
      () =>
        second.runtime.runPromise(
          Effect.map(Lease, (lease) => lease.incarnation() !== lapsed && !lease.fenced() && held() > 0)
        ),
      "it has joined again, and reads"
    )
    assert.isTrue(await knows(second, workspace))
    ofSecond = undefined
    letGo()
    const other = await first.workspace(fresh("hooks"))
    await eventually(async () => !(await knows(second, other)), "it has read")
    assert.isTrue(await knows(second, workspace))
  })

  it("is told of what happens on a node whose lease may have lapsed, and whose beat has no answer yet", async () => {
    const other = await first.workspace(fresh("hooks"))
    assert.isFalse(await knows(second, other))
    const gate = Promise.withResolvers<void>()
    const held = first.runtime.runPromise(
      first.database.run("test", (db) =>
        db.transaction().execute(async (transaction) => {
          await sql`select from nodes where name = 'second' for update`.execute(transaction)
          await gate.promise
        })
      )
    )
    try {
      await eventually(() => second.runtime.runPromise(Effect.map(Lease, (lease) => lease.fenced())), "it is fenced")
      assert.isTrue(await knows(second, other))
    } finally {
      gate.resolve()
      await held
    }
    await eventually(async () => !(await knows(second, other)), "it has beaten again, or joined and read")
  })

  it("is answered for after ten seconds, though a node that lives cannot read", { timeout: 30_000 }, async () => {
    const { letGo, wait } = holding()
    ofSecond = { operation: "webhooks.interest", with: wait }
    const { answer, workspace } = await making()
    const from = performance.now()
    assert.strictEqual((await answer).status, 201)
    assert.closeTo(performance.now() - from, 10_000, 1_500)
    assert.isFalse(await knows(second, workspace))
    ofSecond = undefined
    letGo()
    await eventually(() => knows(second, workspace), "it knows as soon as it can read")
  })
})
