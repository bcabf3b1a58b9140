/** What a node does with messages that no node of ours has sent: nothing, but count them and say so once. */
import { connect } from "@nats-io/transport-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { during } from "../setup/during.ts"
import { natsForTests } from "../setup/nats.ts"
import { metric } from "../metric.ts"
import { connected, idOf, into, live, nodeOn as nodeThatSigns, one, status, until } from "./world.ts"

const { agentId, threadId, workspace } = one
/** Beside a node of the version before: what a stranger says is looked at, though nobody has signed it. */
const nodeOn = (url: string) =>
  nodeThatSigns(url, 100, { nodes: () => [live({ incarnation: idOf("node_", 9), name: "older" })] })
const node1 = idOf("node_", 1)
const hint = `troupe.v1.hint.${workspace}.${agentId}.${threadId}`
const hints = (...list: ReadonlyArray<unknown>) => JSON.stringify({ v: 1, hints: list })
const good = { type: "status", status: "idle", lastSeq: 1 }

interface Case {
  readonly what: string
  readonly subject: string
  readonly data: string | Uint8Array
  readonly kind: string
  readonly reason: "malformed" | "oversized" | "foreign" | "version"
}

const cases: ReadonlyArray<Case> = [
  { what: "an empty hint", subject: hint, data: "", kind: "hint", reason: "malformed" },
  { what: "text that is no JSON", subject: hint, data: "{", kind: "hint", reason: "malformed" },
  {
    what: "bytes that are no text",
    subject: hint,
    data: Uint8Array.of(0x7b, 0xff, 0xfe),
    kind: "hint",
    reason: "malformed"
  },
  { what: "JSON that is no object", subject: hint, data: "[1]", kind: "hint", reason: "malformed" },
  { what: "null", subject: hint, data: "null", kind: "hint", reason: "malformed" },
  { what: "no version", subject: hint, data: JSON.stringify({ hints: [good] }), kind: "hint", reason: "malformed" },
  {
    what: "a newer version",
    subject: hint,
    data: JSON.stringify({ v: 2, hints: [good] }),
    kind: "hint",
    reason: "version"
  },
  {
    what: "a version that is text",
    subject: hint,
    data: JSON.stringify({ v: "1", hints: [good] }),
    kind: "hint",
    reason: "version"
  },
  { what: "no hints", subject: hint, data: JSON.stringify({ v: 1 }), kind: "hint", reason: "malformed" },
  {
    what: "a hint of an unknown type",
    subject: hint,
    data: hints(good, { type: "shutdown" }),
    kind: "hint",
    reason: "malformed"
  },
  {
    what: "a status that does not exist",
    subject: hint,
    data: hints({ ...good, status: "asleep" }),
    kind: "hint",
    reason: "malformed"
  },
  { what: "a negative seq", subject: hint, data: hints({ ...good, lastSeq: -1 }), kind: "hint", reason: "malformed" },
  {
    what: "an event whose text would break out of its frame",
    subject: hint,
    kind: "hint",
    reason: "malformed",
    data: hints({
      type: "events",
      events: [{ seq: 1, turnId: "trn_1", type: "user_message", text: "{}\n\nevent: bye\ndata: {}" }]
    })
  },
  {
    what: "keys that mean something to JavaScript",
    subject: hint,
    data: `{"v":1,"__proto__":{"hints":[]}}`,
    kind: "hint",
    reason: "malformed"
  },
  {
    what: "very deep JSON",
    subject: hint,
    data: `{"v":1,"hints":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    kind: "hint",
    reason: "malformed"
  },
  {
    what: "more than a hint may be",
    subject: hint,
    data: hints({ ...good, more: "x".repeat(200_000) }),
    kind: "hint",
    reason: "oversized"
  },
  {
    what: "an agent that is none",
    subject: `troupe.v1.hint.${workspace}.agt_x.${threadId}`,
    data: hints(good),
    kind: "hint",
    reason: "foreign"
  },
  {
    what: "a thread that is none",
    subject: `troupe.v1.hint.${workspace}.${agentId}.thr_x`,
    data: hints(good),
    kind: "hint",
    reason: "foreign"
  },
  {
    what: "a shard that does not exist",
    subject: "troupe.v1.wake.256",
    data: `{"v":1}`,
    kind: "wake",
    reason: "foreign"
  },
  { what: "a shard that is no number", subject: "troupe.v1.wake.-1", data: `{"v":1}`, kind: "wake", reason: "foreign" },
  { what: "a wake without a version", subject: "troupe.v1.wake.1", data: "{}", kind: "wake", reason: "malformed" },
  { what: "a long wake", subject: "troupe.v1.wake.1", data: "x".repeat(2_000), kind: "wake", reason: "oversized" },
  {
    what: "word of nodes without a version",
    subject: "troupe.v1.nodes",
    data: "{}",
    kind: "nodes",
    reason: "malformed"
  },
  { what: "auth of another version", subject: "troupe.v1.auth", data: `{"v":0}`, kind: "auth", reason: "version" },
  {
    what: "auth that is no message",
    subject: "troupe.v1.auth",
    data: "drop everything",
    kind: "auth",
    reason: "malformed"
  },
  {
    what: "topics that are none",
    subject: "troupe.v1.presence",
    data: `{"v":1,"deltas":["wsp_1/*"]}`,
    kind: "presence",
    reason: "malformed"
  },
  {
    what: "too many topics",
    subject: "troupe.v1.presence",
    data: JSON.stringify({ v: 1, deltas: Array.from({ length: 5_000 }, () => workspace) }),
    kind: "presence",
    reason: "oversized"
  },
  {
    what: "a request that nobody waits for",
    subject: `troupe.v1.node.${node1}`,
    data: "1\nhello",
    kind: "request",
    reason: "foreign"
  }
]

const nats = await during(natsForTests())
const stranger = await during(connect({ servers: [nats.url] }))

describe("a node on the bus", () => {
  const test = (title: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(title, () => Effect.scoped(Effect.suspend(body)))

  test(
    "ignores what is not ours, counts all of it, says so once a kind and reason, and goes on",
    Effect.fnUntraced(function* () {
      const node = yield* nodeOn(nats.url)
      yield* connected(node)
      const heard: Array<string> = []
      const listen = into(heard)
      yield* node.bus.subscribe({ workspace }, (hint) => {
        if (hint.type !== "look") listen(hint)
      })
      yield* node.bus.onWake((shard) => heard.push(`wake ${shard}`))
      yield* node.bus.onAuthChanged(() => heard.push("auth"))
      yield* node.bus.onNodesChanged(() => heard.push("nodes"))
      yield* node.bus.serve(node1, (message) =>
        Effect.sync(() => {
          heard.push(`request ${message}`)
          return message
        })
      )
      const counted = () =>
        Effect.forEach(cases, ({ kind, reason }) => metric("bus_ignored_total", `kind="${kind}",reason="${reason}"`))
      const before = yield* counted()
      for (const { data, subject } of [...cases, ...cases]) stranger.publish(subject, data)
      stranger.publish(hint, hints(good, { ...good, lastSeq: 2, new: "fields of a later release are passed over" }))
      yield* until(() => heard.includes("status 2"))
      assert.deepStrictEqual(heard, ["status 1", "status 2"])
      const after = yield* counted()
      for (const [i, { kind, reason, what }] of cases.entries()) {
        const alike = cases.filter((other) => other.kind === kind && other.reason === reason).length
        assert.strictEqual(after[i]! - before[i]!, 2 * alike, what)
      }
      const kinds = new Set(cases.map(({ kind, reason }) => `${kind} ${reason}`))
      const lines = node.log.filter((line) => line.includes("was ignored"))
      assert.strictEqual(lines.length, kinds.size, lines.join("\n"))
      assert.notMatch(lines.join("\n"), /drop everything|shutdown/)
    })
  )

  test(
    "does not answer requests that it does not understand",
    Effect.fnUntraced(function* () {
      const node = yield* nodeOn(nats.url)
      yield* connected(node)
      const asked: Array<string> = []
      yield* node.bus.serve(node1, (message) =>
        Effect.sync(() => {
          asked.push(message)
          return message
        })
      )
      const ask = (data: string | Uint8Array) =>
        Effect.promise(() =>
          stranger.request(`troupe.v1.node.${node1}`, data, { timeout: 100 }).then(
            ({ data }) => new TextDecoder().decode(data),
            () => undefined
          )
        )
      const answers = yield* Effect.forEach(
        ["", "hello", "2\nhello", "1hello", "\n", Uint8Array.of(0x31, 0x0a, 0xff)],
        ask
      )
      assert.deepStrictEqual(
        answers,
        answers.map(() => undefined)
      )
      assert.deepStrictEqual(asked, [])
      assert.strictEqual(yield* ask("1\nhello"), "1\n+hello")
    })
  )

  test(
    "takes no answer that is none",
    Effect.fnUntraced(function* () {
      const node = yield* nodeOn(nats.url)
      yield* connected(node)
      const replies = ["", "hello", "2\n+hello", "1\nhello", "1\n-drunk"]
      let at = 0
      const impostor = stranger.subscribe(`troupe.v1.node.${node1}`, {
        callback: (_, message) => {
          message.respond(replies[at++ % replies.length] ?? "")
        }
      })
      yield* Effect.promise(() => stranger.flush())
      for (const reply of replies) {
        const failed = yield* Effect.flip(node.bus.request(node1, "hello", 2_000))
        assert.strictEqual(failed.reason, "failed", JSON.stringify(reply))
      }
      impostor.unsubscribe()
    })
  )

  test(
    "asks nobody whose name no node of ours can have, and follows no such thread elsewhere",
    Effect.fnUntraced(function* () {
      const [node, other] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(node)
      yield* connected(other)
      const seen: Array<string> = []
      const all = stranger.subscribe(">", {
        callback: (_, { subject }) => {
          seen.push(subject)
        }
      })
      yield* Effect.promise(() => stranger.flush())
      for (const name of ["*", ">", "node_x", `${node1}.x`, `${node1} x`, ""]) {
        assert.strictEqual((yield* Effect.flip(node.bus.request(name, "hello", 1_000))).reason, "nobody")
      }
      const heard: Array<string> = []
      yield* node.bus.subscribe({ workspace: "*", threadId: ">" }, into(heard))
      yield* node.bus.subscribe({ workspace: `${workspace}.>`, deltas: true }, into(heard))
      node.bus.publish(status(1, { ...one, threadId: "*" }))
      node.bus.publish(status(1, { ...one, agentId: "agt_1.>" }))
      other.bus.publish(status(1))
      node.bus.publish(status(2))
      yield* until(() => seen.filter((subject) => subject === hint).length === 2)
      assert.deepStrictEqual(
        seen.filter((subject) => subject.startsWith("troupe.v1.hint") && subject !== hint),
        []
      )
      assert.deepStrictEqual(
        heard.filter((what) => what !== "look"),
        []
      )
      all.unsubscribe()
    })
  )

  test(
    "takes no request that is too large, and says so where an answer is",
    Effect.fnUntraced(function* () {
      const [here, there] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      const large = "x".repeat(1_100_000)
      let taken = 0
      yield* there.bus.serve(node1, () =>
        Effect.sync(() => {
          taken++
          return large
        })
      )
      const request = yield* Effect.flip(here.bus.request(node1, large, 2_000))
      assert.deepStrictEqual([request.reason, request.mayHaveTakenEffect, taken], ["too_large", false, 0])
      const answer = yield* Effect.flip(here.bus.request(node1, "hello", 2_000))
      assert.deepStrictEqual([answer.reason, answer.mayHaveTakenEffect, taken], ["failed", true, 1])
    })
  )

  test(
    "that has its hands full says so at once",
    Effect.fnUntraced(function* () {
      const [here, there] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      yield* there.bus.serve(node1, () => Effect.never)
      const asked = yield* Effect.forEach(
        Array.from({ length: 1_001 }),
        () => Effect.flip(here.bus.request(node1, "hello", 1_000)),
        { concurrency: "unbounded" }
      )
      const reasons = asked.map(({ reason }) => reason)
      assert.deepStrictEqual(
        [reasons.filter((r) => r === "busy").length, reasons.filter((r) => r === "timeout").length],
        [1, 1_000]
      )
    })
  )
})
