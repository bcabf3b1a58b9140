/** Two nodes whose wires are cut, and one that is stopped: what is asked is answered, or refused until it can be. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Placement } from "../../actors/Placement.ts"
import { Sweep } from "../../actors/Sweep.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { hasShard, shardOf } from "../../src/journal/shard.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused as refused } from "./refusals.ts"
import { ended, logOf, makeThread, submit, text } from "./threadFixture.ts"
import { nodesStand } from "./nodesFixture.ts"

const { a, agentId, atA, atB, busLayer, cutting, ownerOf } = await nodesStand()

describe("with the wires between the nodes cut", () => {
  it("a submit is acknowledged as queued and runs within two seconds, once, in order, on its owner", async () => {
    const threadId = await makeThread(atA, agentId)
    const owner = await ownerOf(threadId)
    const started = performance.now()
    const answers = await cutting(async () => {
      const first = await atB.post(
        `/v1/threads/${threadId}/messages`,
        { content: text("one") },
        { "idempotency-key": "k" }
      )
      // Whoever sends it again, to whom ever, gets the same answer.
      for (const client of [atB, atA, atB]) {
        const again = await client.post(
          `/v1/threads/${threadId}/messages`,
          { content: text("one") },
          { "idempotency-key": "k" }
        )
        assert.deepStrictEqual(
          [again.status, again.text, again.headers.get("idempotency-replayed")],
          [201, first.text, "true"]
        )
      }
      refused(
        await atA.post(`/v1/threads/${threadId}/messages`, { content: text("other") }, { "idempotency-key": "k" }),
        422,
        "idempotency_key_reused"
      )
      const second = await submit(atB, threadId, "two")
      // It can be seen where it waits, or in the log by now.
      for (const client of [atA, atB]) {
        const seen = await client.get(`/v1/threads/${threadId}/queue/${second.id}`)
        assert.deepStrictEqual(
          [seen.status, seen.body.id, seen.body.content, seen.body.turnId],
          [200, second.id, second.content, second.turnId]
        )
      }
      return [first.body, second, await submit(atA, threadId, "three")]
    })
    assert.isBelow(performance.now() - started, 1_000)
    assert.deepStrictEqual(
      answers.slice(0, 2).map(({ state }) => state),
      ["queued", "queued"]
    )
    const log = await logOf(atB, threadId, ended(3))
    assert.isBelow(performance.now() - started, 2_500)
    assert.deepStrictEqual(
      log.filter(({ type }) => type === "user_message").map(({ inputId }) => inputId),
      answers.map(({ id }) => id)
    )
    assert.deepStrictEqual(await ownerOf(threadId), owner)
  })

  it("what depends on the thread's state is 503, and says when to come back", async () => {
    const threadId = await makeThread(atA, agentId)
    const { turnId } = await submit(atA, threadId, "A\n/wait 20s")
    const path = `/v1/threads/${threadId}`
    const asked = await cutting(() =>
      Promise.all([
        atB.post(`${path}/messages`, { content: text("B"), expectedTurnId: turnId }),
        atB.post(`${path}/cancel`),
        atB.post(`${path}/retry`),
        atB.patch(`${path}/queue/inp_${"0".repeat(26)}`, { content: text("C") })
      ])
    )
    for (const answer of asked) {
      refused(answer, 503, "runtime_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), String(answer.body.retryAfterSeconds))
    }
    assert.strictEqual((await atB.post(`${path}/cancel`)).status, 200)
  })

  it("reads go on as before", async () => {
    const threadId = await makeThread(atA, agentId)
    await cutting(async () => {
      const poll = atB.get(`/v1/threads/${threadId}/events?waitSeconds=10&afterSeq=2`)
      const { seq } = await submit(atA, threadId, "A")
      assert.isAtLeast((await atB.get(`/v1/threads/${threadId}`)).body.lastSeq, seq)
      assert.strictEqual((await poll).body.events[0].type, "turn_completed")
    })
  })
})

describe("a node that is stopped", () => {
  it("leaves nothing behind: what it had runs on the other within two seconds", async () => {
    const c = await startServer({ bus: busLayer(), name: "c", beside: a })
    const atC = c.at(atA)
    await eventually(async () => (await atA.get("/v1/nodes")).body.nodes.length === 3, "there are 3 nodes")
    const threads = await Promise.all(Array.from({ length: 8 }, () => makeThread(atC, agentId)))
    const mine = await c.runtime.runPromise(
      Effect.map(Placement, (placement) => threads.every((id) => hasShard(placement.mine(), shardOf(id))))
    )
    assert.isTrue(mine, "born on a node, in its shards")
    for (const threadId of threads)
      await submit(
        atC,
        threadId,
        "A\n/wait 400ms\n/call nope {}\n/then\n/wait 400ms\n/call nope {}\n/then\n/wait 400ms\n/call nope {}\n/then\n/wait 400ms"
      )
    const stopping = performance.now()
    const stopped = c.runtime
      .runPromise(
        Effect.gen(function* () {
          yield* (yield* Sweep).drain(10_000)
          yield* (yield* Lease).leave
        })
      )
      .then(c.stop)
    for (const threadId of threads) await submit(atB, threadId, "B")
    await stopped
    for (const threadId of threads) await logOf(atB, threadId, ended(2))
    assert.isBelow(performance.now() - stopping, 5_000)
    const live = (await atA.get("/v1/nodes")).body.nodes.map(({ incarnation }: { incarnation: string }) =>
      toUuid(incarnation)
    )
    for (const threadId of threads) assert.include([null, ...live], (await ownerOf(threadId)).owner)
  })
})
