/** Messages of what is no client, a schedule say: under ids that derive from what they are for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Registries } from "../../actors/Registries.ts"
import { makeSubmit } from "../../actors/subscription/submitting.ts"
import { type StartedThread, Threads } from "../../actors/thread/Threads.ts"
import { blank } from "../../machines/subscription/context.ts"
import { restore } from "../../machines/subscription/fold.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { SubscriptionSettings } from "../../src/domain/subscription.ts"
import { freshId } from "../../src/seed.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const server = await during(startServer({ idleMs: 1 }))
const alpha = server.alpha
const agentId = await makeAgent(alpha)

const principal = () => ({ type: "schedule" as const, id: "sch_daily" })

const start = (
  thread: Pick<StartedThread, "threadId" | "inputId"> & Partial<Pick<StartedThread, "agentId" | "identity" | "maxCost">>
) =>
  server.runtime.runPromise(
    Effect.result(
      Threads.use((threads) =>
        threads.start(
          { workspace: server.workspaces.alpha, principal: principal() },
          { agentId, content: text("hello"), ...thread }
        )
      )
    )
  )
const submitAs = (threadId: string, inputId: string, words: string) =>
  server.runtime.runPromise(
    Threads.use((threads) =>
      threads.submitAs({ workspace: server.workspaces.alpha, principal: principal() }, threadId, {
        inputId,
        content: text(words),
        mode: "queue"
      })
    )
  )
/** Has a thread leave memory. */
const leave = (threadId: string) =>
  server.runtime.runPromise(
    Effect.gen(function* () {
      const threads = yield* Threads
      const actors = (yield* Registries).of("thread") ?? assert.fail("no threads")
      while (threads.lastSeq(server.workspaces.alpha, threadId) !== undefined)
        yield* Effect.andThen(Effect.sleep(2), actors.passivate)
    })
  )
const bodyOf = (answer: Awaited<ReturnType<typeof start>>) => {
  assert.strictEqual(answer._tag, "Success", JSON.stringify(answer))
  return answer._tag === "Success" ? JSON.parse(answer.success.body ?? "") : undefined
}
const messagesOf = async (threadId: string) =>
  (await logOf(alpha, threadId, ended(1))).filter(({ type }) => type === "user_message")

describe("a thread that is started under a derived id", () => {
  it("begins with its message, for whom it was started", async () => {
    const [threadId, inputId] = [freshId("thread"), freshId("input")]
    const answer = bodyOf(await start({ threadId, inputId, maxCost: 2, identity: "ann" }))
    assert.deepInclude(answer, { id: inputId, turnId: sibling("turn", inputId), principal: principal() })
    assert.strictEqual((await messagesOf(threadId)).length, 1)
    const { thread } = (await alpha.get(`/v1/threads/${threadId}`)).body
    assert.deepInclude(thread, { agentId, maxCost: 2, identity: "ann", createdBy: principal() })
  })

  it("is there once, whoever asks again, and at the same time", async () => {
    const [threadId, inputId] = [freshId("thread"), freshId("input")]
    const answers = await Promise.all([1, 2, 3].map(() => start({ threadId, inputId })))
    assert.deepStrictEqual(
      answers.map((answer) => bodyOf(answer).id),
      [inputId, inputId, inputId]
    )
    await logOf(alpha, threadId, ended(1))
    const again = bodyOf(await start({ threadId, inputId }))
    assert.deepInclude(again, { id: inputId, state: "admitted", seq: 1 })
    assert.strictEqual((await messagesOf(threadId)).length, 1)
  })

  it.each([
    ["is at hand", false],
    ["has left memory", true]
  ])("is answered as before while it %s, whatever its birth would be refused with by now", async (_, leaves) => {
    const agent = await makeAgent(alpha, ["troupe/scripted-paid"])
    const [threadId, inputId] = [freshId("thread"), freshId("input")]
    const asked = { threadId, inputId, agentId: agent, identity: `of ${agent}` }
    const first = bodyOf(await start(asked))
    await logOf(alpha, threadId, ended(1))
    const again = async (what: string) => {
      if (leaves) await leave(threadId)
      assert.deepInclude(bodyOf(await start(asked)), { id: inputId, turnId: first.turnId, state: "admitted" }, what)
    }
    assert.strictEqual(
      (await alpha.patch(`/v1/agents/${agent}`, { budget: { limit: 0, window: "total" } })).status,
      200
    )
    await again("without a budget")
    assert.strictEqual((await alpha.post("/v1/identities/disable", { identity: asked.identity })).status, 200)
    await again("for a disabled identity")
    assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/archive`)).status, 200)
    await again("archived")
    assert.strictEqual((await alpha.delete(`/v1/agents/${agent}`)).status, 204)
    await again("of an archived agent")
    assert.strictEqual((await messagesOf(threadId)).length, 1)
  })

  it("is refused where its agent takes no work, and is not there then", async () => {
    const archived = await makeAgent(alpha)
    assert.strictEqual((await alpha.delete(`/v1/agents/${archived}`)).status, 204)
    const threadId = freshId("thread")
    const answer = await start({ threadId, inputId: freshId("input"), agentId: archived })
    assert.strictEqual(answer._tag, "Failure")
    if (answer._tag === "Failure") assert.deepInclude(answer.failure, { _tag: "Refused", reason: "agent_archived" })
    assert.strictEqual((await alpha.get(`/v1/threads/${threadId}`)).status, 404)
  })
})

describe("a message under a derived id", () => {
  it("waits its turn, and is answered as before when it is sent again", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 600s\nbusy")
    const inputId = freshId("input")
    const first = await submitAs(threadId, inputId, "later")
    assert.deepInclude(JSON.parse(first.body ?? ""), { id: inputId, state: "queued" })
    assert.deepStrictEqual(await submitAs(threadId, inputId, "later"), first)
    const { queued } = (await alpha.get(`/v1/threads/${threadId}`)).body
    assert.deepStrictEqual(
      queued.map(({ id }: { id: string }) => id),
      [inputId]
    )
  })
})

describe("a batch of a subscription", () => {
  /** The job of a subscription that somebody has made, with such a batch in hand. */
  const hand = (threadId: string, inputId: string, maker: string, target: "spawn" | "reuse") => {
    const batch = { from: 1, to: 1, count: 1, hops: 0, text: "#1 news", threadId, inputId }
    const settings: SubscriptionSettings = {
      cadence: { mode: "immediate" },
      target: { mode: target },
      includeSelf: false
    }
    const being = {
      ref: { workspace: server.workspaces.alpha, kind: "subscription", id: freshId("subscription") },
      parent: agentId,
      attributes: JSON.stringify({
        createdBy: { type: "api_key", id: "key_of_maker", identity: maker },
        feedId: freshId("feed")
      }),
      createdAt: 0,
      head: { updatedAt: 0 },
      snapshot: restore({ ...blank, settings, batch }),
      desk: { queuedMs: () => 0 }
    }
    return () => server.runtime.runPromise(Effect.flatMap(makeSubmit, (submit) => submit(being, inputId)))
  }

  it.each(["spawn", "reuse"] as const)(
    "that was accepted is answered as before once nobody may act for it, target %s; one that was not is passed over",
    async (target) => {
      const maker = `${freshId("key")}@example.com`
      const [threadId, inputId] = [freshId("thread"), freshId("input")]
      const give = hand(threadId, inputId, maker, target)
      const taken = { type: "submitted" as const, inputId, turnId: sibling("turn", inputId) }
      assert.deepStrictEqual(await give(), taken)
      assert.strictEqual((await alpha.post("/v1/identities/disable", { identity: maker })).status, 200)
      assert.deepStrictEqual(await give(), taken)
      const fresh = freshId("input")
      assert.deepStrictEqual(await hand(freshId("thread"), fresh, maker, target)(), {
        type: "passed",
        inputId: fresh,
        reason: "identity_disabled"
      })
      assert.strictEqual((await messagesOf(threadId)).length, 1)
    }
  )
})
