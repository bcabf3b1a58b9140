/** The table of the first turn: what the log says when something is sent while `/wait 3s` of turn A runs. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const server = await sharedServer()
const agentId = await makeAgent(server.alpha)

const short: Record<string, string> = { user_message: "user", assistant_message: "assistant" }

/**
 * The log in the table's words: a turn's letter in brackets, that of the input that it answers for the messages of
 * others.
 */
const say = (log: ReadonlyArray<Event>, inputs: Readonly<Record<string, string>>) => {
  const nameOf = new Map(Object.entries(inputs).map(([name, inputId]) => [inputId, name]))
  const turns = new Map<string, string>()
  return log
    .map((event) => {
      const input = typeof event.inputId === "string" ? nameOf.get(event.inputId) : undefined
      if (input !== undefined && !turns.has(event.turnId)) turns.set(event.turnId, input)
      const turn = turns.get(event.turnId)
      const what = short[event.type] ?? event.type
      return input !== undefined && input !== turn ? `${what}(${input}, in ${turn})` : `${what}(${turn})`
    })
    .join(" ")
}

/** Starts turn A, and gives its answer once it runs. */
const begin = async () => {
  const threadId = await makeThread(server.alpha, agentId)
  const a = await submit(server.alpha, threadId, "/wait 3s\nfirst")
  assert.strictEqual(a.state, "admitted")
  return { threadId, a }
}

describe.concurrent("while turn A waits", () => {
  it("queues Q behind it", async () => {
    const { a, threadId } = await begin()
    const q = await submit(server.alpha, threadId, "Q")
    assert.deepStrictEqual([q.state, q.submitMode], ["queued", "queue"])
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.strictEqual(
      say(log, { A: a.id, Q: q.id }),
      "user(A) assistant(A) turn_completed(A) user(Q) assistant(Q) turn_completed(Q)"
    )
  })

  it("takes a steer S into the turn, with one more sample", async () => {
    const { a, threadId } = await begin()
    const s = await submit(server.alpha, threadId, "S", { mode: "steer" })
    assert.deepStrictEqual([s.state, s.submitMode, s.turnId], ["steered", "steer", a.turnId])
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.strictEqual(
      say(log, { A: a.id, S: s.id }),
      "user(A) assistant(A) user(S, in A) assistant(A) turn_completed(A)"
    )
    assert.deepStrictEqual(
      log.map(({ content }) => content).filter((content) => content !== undefined),
      [text("/wait 3s\nfirst"), text("You said: first"), text("S"), text("You said: S")]
    )
  })

  it("puts an interrupt I before the queued Q", async () => {
    const { a, threadId } = await begin()
    const q = await submit(server.alpha, threadId, "Q")
    const i = await submit(server.alpha, threadId, "I", { mode: "interrupt" })
    assert.deepStrictEqual([i.state, i.submitMode], ["admitted", "interrupt"])
    const log = await logOf(server.alpha, threadId, ended(3))
    assert.strictEqual(
      say(log, { A: a.id, Q: q.id, I: i.id }),
      "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(Q) assistant(Q) turn_completed(Q)"
    )
    assert.strictEqual(log[2]!.seq, i.seq)
  })

  it("gives a steer S its own turn behind an interrupt I", async () => {
    const { a, threadId } = await begin()
    const s = await submit(server.alpha, threadId, "S", { mode: "steer" })
    const i = await submit(server.alpha, threadId, "I", { mode: "interrupt" })
    const log = await logOf(server.alpha, threadId, ended(3))
    assert.strictEqual(
      say(log, { A: a.id, S: s.id, I: i.id }),
      "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(S) assistant(S) turn_completed(S)"
    )
    assert.strictEqual(log[5]!.submitMode, "steer")
    assert.strictEqual(log[5]!.turnId, s.id.replace("inp_", "trn_"))
  })

  it("gives a steer S its own turn after a cancel", async () => {
    const { a, threadId } = await begin()
    const s = await submit(server.alpha, threadId, "S", { mode: "steer" })
    const cancelled = await server.alpha.post(`/v1/threads/${threadId}/cancel`, {})
    assert.strictEqual(cancelled.status, 200, cancelled.text)
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.strictEqual(
      say(log, { A: a.id, S: s.id }),
      "user(A) turn_cancelled(A) user(S) assistant(S) turn_completed(S)"
    )
    assert.strictEqual(log[2]!.submitMode, "steer")
  })
})
