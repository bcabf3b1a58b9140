/**
 * Who may publish on the bus is not thereby a node: what nodes do with messages that no node has signed for them, now.
 */
import { connect, headers, type Msg } from "@nats-io/transport-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Scheduler, type Scope } from "effect"
import { busKeys, makeSignatures, windowMs } from "../../src/bus/signature.ts"
import { signatureHeader } from "../../src/bus/wire.ts"
import { during } from "../setup/during.ts"
import { natsForTests } from "../setup/nats.ts"
import { metric } from "../metric.ts"
import { connected, idOf, keys, live, nodeOn, one, status, until } from "./world.ts"

const node1 = idOf("node_", 1)
const request = `troupe.v1.node.${node1}`
const bytes = (text: string) => new TextEncoder().encode(text)
const foreign = busKeys([new Uint8Array(32).fill(8)])
const names = (of: typeof keys) => of.map(({ name }) => name)

const nats = await during(natsForTests())
/** Somebody with a login, and without a key. */
const stranger = await during(connect({ servers: [nats.url] }))

describe("a node on the bus", () => {
  const test = (title: string, body: () => Effect.Effect<void, unknown, Scope.Scope>, ms = 20_000) =>
    it.live(title, () => Effect.scoped(Effect.suspend(body)), ms)

  const ignored = (kind: string, reason: string) => metric("bus_ignored_total", `kind="${kind}",reason="${reason}"`)
  /** Everything that is said, as somebody with a login hears it. */
  const overheard = Effect.gen(function* () {
    const all: Array<Msg> = []
    const subscription = yield* Effect.acquireRelease(
      Effect.sync(() =>
        stranger.subscribe("troupe.v1.>", {
          callback: (_, message) => {
            all.push(message)
          }
        })
      ),
      (subscription) => Effect.sync(() => subscription.unsubscribe())
    )
    yield* Effect.promise(() => stranger.flush())
    assert.isFalse(subscription.isClosed())
    return all
  })
  const say = (subject: string, data: Uint8Array, signature?: string) => {
    if (signature === undefined) return stranger.publish(subject, data)
    const found = headers()
    found.set(signatureHeader, signature)
    stranger.publish(subject, data, { headers: found })
  }
  /** What a stranger is answered. */
  const ask = (text: string, signature?: string) =>
    Effect.promise(() => {
      const found = headers()
      if (signature !== undefined) found.set(signatureHeader, signature)
      return stranger
        .request(request, bytes(text), { timeout: 200, ...(signature === undefined ? {} : { headers: found }) })
        .then(
          ({ data }) => new TextDecoder().decode(data),
          () => undefined
        )
    })

  /** A node that writes down what it is made to do. */
  const listening = Effect.fnUntraced(function* (standing: Parameters<typeof nodeOn>[2] = {}) {
    const node = yield* nodeOn(nats.url, 100, standing)
    yield* connected(node)
    const heard: Array<string> = []
    yield* node.bus.subscribe({ workspace: one.workspace }, (hint) => {
      if (hint.type === "status") heard.push(`status ${hint.lastSeq}`)
    })
    yield* node.bus.onWake((shard) => heard.push(`wake ${shard}`))
    yield* node.bus.onAuthChanged(() => heard.push("auth"))
    yield* node.bus.serve(node1, (message) =>
      Effect.sync(() => {
        heard.push(`asked ${message}`)
        return `did ${message}`
      })
    )
    return { ...node, heard }
  })
  /** Until what was said before is with the node. */
  const settled = (node: { readonly heard: ReadonlyArray<string> }) =>
    Effect.gen(function* () {
      const signatures = makeSignatures(keys, Date.now)
      const auths = () => node.heard.filter((what) => what === "auth").length
      const before = auths()
      say("troupe.v1.auth", bytes(`{"v":1}`), signatures.sign("troupe.v1.auth", bytes(`{"v":1}`)))
      yield* until(() => auths() > before)
    })

  const hint = {
    subject: `troupe.v1.hint.${one.workspace}.${one.agentId}.${one.threadId}`,
    data: bytes(JSON.stringify({ v: 1, hints: [{ type: "status", status: "idle", lastSeq: 1 }] }))
  }
  const said = [
    { kind: "hint", ...hint },
    { kind: "wake", subject: "troupe.v1.wake.1", data: bytes(`{"v":1}`) },
    { kind: "presence", subject: "troupe.v1.presence", data: bytes(`{"v":1,"deltas":[],"look":true}`) }
  ]

  test(
    "does nothing that is not signed, and counts it",
    Effect.fnUntraced(function* () {
      const node = yield* listening()
      for (const { data, kind, subject } of said) {
        const before = yield* ignored(kind, "unsigned")
        say(subject, data)
        yield* Effect.promise(() => stranger.flush())
        yield* until(
          () => node.log.some((line) => line.includes(`"kind":"${kind}"`) && line.includes("unsigned")),
          kind
        )
        assert.strictEqual(yield* ignored(kind, "unsigned"), before + 1, kind)
      }
      const before = yield* ignored("request", "unsigned")
      assert.isUndefined(yield* ask("1\nsubmit"))
      assert.strictEqual(yield* ignored("request", "unsigned"), before + 1)
      yield* settled(node)
      assert.deepStrictEqual(node.heard, ["auth"])
    })
  )

  test(
    "does nothing that is signed with another installation's key, and counts it",
    Effect.fnUntraced(function* () {
      const node = yield* listening()
      const signatures = makeSignatures(foreign, Date.now)
      for (const { data, kind, subject } of said) {
        const before = yield* ignored(kind, "unknown_key")
        say(subject, data, signatures.sign(subject, data))
        yield* settled(node)
        assert.strictEqual(yield* ignored(kind, "unknown_key"), before + 1, kind)
      }
      assert.isUndefined(yield* ask("1\nsubmit", signatures.sign(request, bytes("1\nsubmit"))))
      assert.deepStrictEqual(
        node.heard.filter((what) => what !== "auth"),
        []
      )
    })
  )

  test(
    "does once what was signed, however often it is said again",
    Effect.fnUntraced(function* () {
      const node = yield* listening()
      const other = yield* nodeOn(nats.url)
      yield* connected(other)
      const all = yield* overheard
      const before = yield* Effect.forEach(["hint", "wake", "request"], (kind) => ignored(kind, "replayed"))
      other.bus.publish(status(1))
      other.bus.wake(16)
      assert.strictEqual(yield* other.bus.request(node1, "submit", 2_000), "did submit")
      yield* until(() => node.heard.includes("status 1") && node.heard.includes("wake 16"))
      const heard = [...node.heard]
      yield* until(() => all.filter(({ subject }) => /hint|wake|node/.test(subject)).length >= 3)
      for (const { data, headers, reply, subject } of all.filter(({ subject }) => /hint|wake|node/.test(subject))) {
        stranger.publish(subject, data, {
          ...(headers === undefined ? {} : { headers }),
          ...(reply === undefined ? {} : { reply })
        })
      }
      yield* settled(node)
      assert.deepStrictEqual(
        node.heard.filter((what) => what !== "auth"),
        heard
      )
      const after = yield* Effect.forEach(["hint", "wake", "request"], (kind) => ignored(kind, "replayed"))
      // Who sent the wake hears it as well, and knows that it was its own.
      assert.deepStrictEqual(
        after.map((count, i) => count - before[i]!),
        [1, 2, 1]
      )
    })
  )

  test(
    "does nothing that was altered, moved to another subject, or is too old",
    Effect.fnUntraced(function* () {
      const node = yield* listening()
      let at = Date.now()
      const signatures = makeSignatures(keys, () => at)
      const [forged, late] = [yield* ignored("hint", "forged"), yield* ignored("hint", "late")]
      say(
        hint.subject,
        bytes(new TextDecoder().decode(hint.data).replace(`"lastSeq":1`, `"lastSeq":2`)),
        signatures.sign(hint.subject, hint.data)
      )
      say(hint.subject, hint.data, signatures.sign("troupe.v1.wake.1", hint.data))
      at -= windowMs + 1_000
      say(hint.subject, hint.data, signatures.sign(hint.subject, hint.data))
      at += 2 * windowMs + 10_000
      say(hint.subject, hint.data, signatures.sign(hint.subject, hint.data))
      yield* settled(node)
      assert.deepStrictEqual(node.heard, ["auth"])
      assert.deepStrictEqual(
        [(yield* ignored("hint", "forged")) - forged, (yield* ignored("hint", "late")) - late],
        [2, 2]
      )
      assert.isUndefined(
        yield* ask("1\nsubmit", signatures.sign(`troupe.v1.node.${idOf("node_", 2)}`, bytes("1\nsubmit")))
      )
    })
  )

  test(
    "takes messages of nodes whose clocks differ a little",
    Effect.fnUntraced(function* () {
      const node = yield* listening()
      for (const off of [-20_000, 20_000]) {
        const signatures = makeSignatures(keys, () => Date.now() + off)
        say(hint.subject, hint.data, signatures.sign(hint.subject, hint.data))
      }
      yield* until(() => node.heard.filter((what) => what === "status 1").length === 2)
    })
  )

  test(
    "believes no answer but that of a node to this very question",
    Effect.fnUntraced(function* () {
      const node = yield* nodeOn(nats.url)
      yield* connected(node)
      const signatures = makeSignatures(keys, Date.now)
      const made: ReadonlyArray<(reply: string) => string | undefined> = [
        () => undefined,
        (reply) => makeSignatures(foreign, Date.now).sign(reply, bytes("1\n+done")),
        // Signed by a node, but for something else.
        (reply) => signatures.sign(reply, bytes("1\n+done")),
        (reply) => signatures.sign(reply, bytes("1\n+done"), "another question")
      ]
      let at = 0
      const impostor = stranger.subscribe(request, {
        callback: (_, message) => {
          const signature = made[at++]?.(message.reply ?? "")
          const found = headers()
          if (signature !== undefined) found.set(signatureHeader, signature)
          message.respond(bytes("1\n+done"), signature === undefined ? {} : { headers: found })
        }
      })
      yield* Effect.promise(() => stranger.flush())
      for (const [i] of made.entries()) {
        assert.strictEqual(
          (yield* Effect.flip(node.bus.request(node1, "hello", 2_000))).reason,
          "failed",
          `answer ${i}`
        )
      }
      impostor.unsubscribe()
    })
  )

  test(
    "takes what is not signed while the row of a live node names no key, and no longer; and says so",
    Effect.fnUntraced(function* () {
      let nodes = [
        live({ incarnation: idOf("node_", 5), name: "new", signs: names(keys) }),
        live({ incarnation: idOf("node_", 6), name: "older" })
      ]
      const node = yield* listening({ nodes: () => nodes })
      const taken = yield* metric("bus_unsigned_total")
      for (const { data, subject } of said) say(subject, data)
      yield* until(() => node.heard.includes("status 1") && node.heard.some((what) => what.startsWith("wake")))
      assert.strictEqual(yield* ask("1\nsubmit"), "1\n+did submit")
      // The presence that each node says when it comes is signed.
      assert.strictEqual(yield* metric("bus_unsigned_total"), taken + 4)
      yield* until(
        () => node.log.some((line) => line.includes("a node of an earlier version is alive")),
        "it was not said",
        12_000
      )
      // What is signed has to be signed right all the same.
      assert.isUndefined(yield* ask("1\nsubmit", makeSignatures(foreign, Date.now).sign(request, bytes("1\nsubmit"))))

      nodes = nodes.filter(({ signs }) => signs !== undefined)
      assert.isUndefined(yield* ask("1\nsubmit again"))
      assert.notInclude(node.heard, "asked submit again")
      yield* until(
        () => node.log.some((line) => line.includes("no node of an earlier version is left")),
        "it was not said",
        12_000
      )
    }),
    40_000
  )

  test(
    "asks nothing of a node with which it shares no key, names it once, and shows it",
    Effect.fnUntraced(function* () {
      let looks = 0
      const nodes = () => {
        looks++
        return [live({ incarnation: node1, name: "elsewhere", signs: names(foreign) })]
      }
      const node = yield* nodeOn(nats.url, 100, { nodes })
      yield* connected(node)
      const all = yield* overheard
      const asked = yield* Effect.flip(node.bus.request(node1, "hello", 5_000))
      assert.deepStrictEqual([asked.reason, asked.mayHaveTakenEffect], ["nobody", false])
      assert.deepStrictEqual(
        all.filter(({ subject }) => subject === request),
        []
      )
      const lines = () =>
        node.log.filter(
          (line) => line.startsWith("Error") && line.includes("elsewhere") && line.includes("TROUPE_ENCRYPTION_KEYS")
        )
      yield* until(() => lines().length > 0, "it was not said", 12_000)
      assert.strictEqual(yield* metric("bus_strangers"), 1)
      // A round looks at the list twice: for strangers, then for nodes that do not sign.
      const seen = looks
      yield* until(() => looks >= seen + 2, "no second round came", 12_000)
      assert.strictEqual(lines().length, 1)
    }),
    40_000
  )

  test(
    "understands every other one while a key is rotated, step by step",
    Effect.fnUntraced(function* () {
      const [before, both, turned, after] = [keys, [...keys, ...foreign], [...foreign, ...keys], foreign]
      // Nodes of a step before would answer in the place of those of the next.
      yield* Effect.forEach(
        [
          [before, both],
          [both, turned],
          [turned, after]
        ] as const,
        ([mine, theirs]) =>
          Effect.scoped(
            Effect.gen(function* () {
              const nodes = () => [
                live({ incarnation: node1, name: "a", signs: names(theirs) }),
                live({ incarnation: idOf("node_", 2), name: "b", signs: names(mine) })
              ]
              const [here, there] = [
                yield* nodeOn(nats.url, 100, { keys: mine, nodes }),
                yield* nodeOn(nats.url, 100, { keys: theirs, nodes })
              ]
              yield* connected(here)
              yield* connected(there)
              yield* there.bus.serve(node1, (message) => Effect.succeed(`there ${message}`))
              yield* here.bus.serve(idOf("node_", 2), (message) => Effect.succeed(`here ${message}`))
              assert.strictEqual(yield* here.bus.request(node1, "hello", 2_000), "there hello")
              assert.strictEqual(yield* there.bus.request(idOf("node_", 2), "hello", 2_000), "here hello")
            })
          )
      )
    })
  )

  test(
    "is answered whenever it asks, also where a fiber yields to another that asks the same node",
    Effect.fnUntraced(function* () {
      const [here, there] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      yield* there.bus.serve(node1, (message) => Effect.succeed(message))
      const before = yield* ignored("request", "replayed")
      // Somewhere within the question the first fiber has done enough for its turn, and the second one overtakes it.
      for (let done = 0; done < 100; done++) {
        const busy = Effect.gen(function* () {
          for (let i = 0; i < done; i++) yield* Effect.sync(() => i)
          return yield* here.bus.request(node1, `after ${done}`, 2_000)
        })
        const both = yield* Effect.all([busy, here.bus.request(node1, `beside ${done}`, 2_000)], {
          concurrency: "unbounded"
        }).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 100))
        assert.deepStrictEqual(both, [`after ${done}`, `beside ${done}`])
      }
      assert.strictEqual(yield* ignored("request", "replayed"), before)
    })
  )

  test(
    "signs the headers only: nodes of the version before read what it sends as ever",
    Effect.fnUntraced(function* () {
      const node = yield* nodeOn(nats.url)
      yield* connected(node)
      const all = yield* overheard
      node.bus.wake(16)
      node.bus.authChanged()
      yield* until(() => all.some(({ subject }) => subject === "troupe.v1.auth"))
      for (const subject of ["troupe.v1.wake.1", "troupe.v1.auth"]) {
        const message = all.find((message) => message.subject === subject) ?? assert.fail(subject)
        assert.strictEqual(message.string(), `{"v":1}`)
      }
    })
  )
})
