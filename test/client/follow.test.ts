/** Streams as a program follows them, through a line that breaks. */
import { afterAll, assert, it } from "@effect/vitest"
import { connect as dial, createServer, type AddressInfo, type Socket } from "node:net"
import { connect } from "../../src/client/client.ts"
import { TroupeError } from "../../src/client/errors.ts"
import { followThread, followWorkspace } from "../../src/client/follow.ts"
import { sharedServer } from "../setup/server.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"

const sockets = new Set<Socket>()
const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const { port } = new URL(server.base)
/** Between client and server: cuts all lines when it is told to. */
const between = createServer((near) => {
  const far = dial(Number(port), "127.0.0.1")
  for (const [one, other] of [
    [near, far],
    [far, near]
  ] as const) {
    sockets.add(one)
    one.pipe(other)
    one.on("error", () => other.destroy())
    one.on("close", () => {
      sockets.delete(one)
      other.destroy()
    })
  }
})
await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve))
const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  between.close()
})

const cut = () => {
  for (const socket of sockets) socket.destroy()
}
const troupe = (key = alpha.token ?? "") => connect({ url, key })

it("a thread is followed without a gap and without repeating, however often the line breaks", async () => {
  const threadId = await makeThread(alpha, agentId)
  await submit(alpha, threadId, "one")
  await logOf(alpha, threadId, ended(1))
  const leave = new AbortController()
  const seqs: Array<number> = []
  const states: Array<boolean> = []
  let turns = 1
  for await (const { data, event } of followThread(troupe(), threadId, {
    signal: leave.signal,
    onLine: (isOpen) => states.push(isOpen)
  })) {
    if (event !== "event") continue
    const { seq, type } = data as { seq: number; type: string }
    seqs.push(seq)
    if (type !== "turn_completed") continue
    if (turns === 4) leave.abort()
    else {
      cut()
      turns++
      await submit(alpha, threadId, `turn ${turns}`)
    }
  }
  assert.deepStrictEqual(
    seqs,
    Array.from({ length: 12 }, (_, index) => index + 1)
  )
  assert.deepStrictEqual(states.slice(0, 5), [true, false, true, false, true])
})

it("steps of a thread come each once, in order and behind their events, however often the line breaks", async () => {
  const threadId = await makeThread(alpha, agentId)
  await submit(alpha, threadId, "one")
  await logOf(alpha, threadId, ended(1))
  const leave = new AbortController()
  const seen: Array<string> = []
  const told: Array<unknown> = []
  for await (const { data, event } of followThread(troupe(), threadId, { signal: leave.signal, steps: true })) {
    const { pos, seq, toSeq } = data as { seq: number; pos: number; toSeq: number }
    if (event === "event") {
      seen.push(`event ${seq}`)
      // Events go ahead: what their steps were is not known yet.
      if (seq % 3 === 2) cut()
      if (seq === 3 || seq === 6) await submit(alpha, threadId, `after ${seq}`)
    }
    if (event !== "step") continue
    assert.include(seen, `event ${toSeq}`)
    seen.push(`step ${pos}`)
    told.push(data)
    if (toSeq === 9) leave.abort()
  }
  const { steps } = (await alpha.get(`/v1/actors/${threadId}/steps`)).body
  assert.deepStrictEqual(
    told,
    steps.map((step: object) => ({ actorId: threadId, ...step }))
  )
  assert.deepStrictEqual(
    seen.filter((each) => each.startsWith("event")),
    Array.from({ length: 9 }, (_, index) => `event ${index + 1}`)
  )
})

it("a step that wrote no event comes once, behind the steps and the events before it, where the line breaks too", async () => {
  const threadId = await makeThread(alpha, agentId)
  await submit(alpha, threadId, "one")
  await logOf(alpha, threadId, ended(1))
  // A fact of the thread, and nothing of its log.
  assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/archive`, {})).status, 200)
  const { steps } = (await alpha.get(`/v1/actors/${threadId}/steps`)).body
  const leave = new AbortController()
  const seen: Array<number> = []
  const told: Array<unknown> = []
  for await (const { data, event } of followThread(troupe(), threadId, { signal: leave.signal, steps: true })) {
    const { pos, seq, toSeq } = data as { readonly pos: number; readonly seq: number; readonly toSeq?: number }
    if (event === "event") {
      seen.push(seq)
      if (seq === 3) cut()
    }
    if (event !== "step") continue
    told.push(data)
    if (toSeq !== undefined) continue
    assert.deepStrictEqual([pos, seen], [steps.at(-1).pos, [1, 2, 3]])
    leave.abort()
  }
  assert.isUndefined(steps.at(-1).toSeq)
  assert.deepStrictEqual(
    told,
    steps.map((step: object) => ({ actorId: threadId, ...step }))
  )
})

it("a thread's stream that is refused is not asked for again", async () => {
  const follow = followThread(troupe(), "thr_00000000000000000000000000", { signal: new AbortController().signal })
  try {
    await follow.next()
    assert.fail("it has begun")
  } catch (error) {
    assert.instanceOf(error, TroupeError)
    assert.deepInclude(error, { status: 404, error: "not_found" })
  }
})

it("a workspace's hints say that some may be missing once the line was lost", async () => {
  const leave = new AbortController()
  const seen: Array<string> = []
  for await (const { event } of followWorkspace(troupe(), { types: ["status"], signal: leave.signal })) {
    seen.push(event)
    if (seen.length === 1) cut()
    if (event === "gap") {
      await submit(alpha, await makeThread(alpha, agentId), "hello")
    }
    if (event === "status") leave.abort()
  }
  // A turn may be told of by more than one status: by the one that was read, and by those that came until it was left.
  assert.deepStrictEqual([...new Set(seen.slice(3))], ["status"])
  assert.deepStrictEqual(seen.slice(0, 3), ["ready", "gap", "ready"])
})
