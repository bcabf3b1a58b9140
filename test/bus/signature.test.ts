/** A signature of a message between nodes: what it vouches for, and what is refused. */
import { assert, describe, it } from "vitest"
import { randomBytes } from "node:crypto"
import { busKeys, makeSignatures, signatureBytes, windowMs } from "../../src/bus/signature.ts"
import { signatureHeader } from "../../src/bus/wire.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const secrets = [randomBytes(32), randomBytes(32), randomBytes(32)].map((secret) => new Uint8Array(secret))
const [k1, k2, k3] = secrets.map((secret) => busKeys([secret])[0]!)
const subject = "troupe.v1.wake.7"
const data = bytes(`{"v":1}`)

/** A clock to be turned. */
const clock = (at = 1_800_000_000_000) => {
  let now = at
  return {
    now: () => now,
    turn: (ms: number) => {
      now += ms
    }
  }
}

describe("a signature", () => {
  const { now, turn } = clock()
  const sender = makeSignatures([k1!], now)
  const receiver = makeSignatures([k1!], now)
  const taken = receiver.taken()
  const judge = (signature: string, more: Partial<Parameters<typeof receiver.mistrusted>[1]> = {}) =>
    receiver.mistrusted(signature, { subject, data, taken, ...more })

  it("is taken once", () => {
    const signature = sender.sign(subject, data)
    assert.isUndefined(judge(signature))
    assert.strictEqual(judge(signature), "replayed")
  })

  it("of a message that was sent before another one that was taken is not taken any more", () => {
    const [first, second] = [sender.sign(subject, data), sender.sign(subject, data)]
    assert.isUndefined(judge(second))
    assert.strictEqual(judge(first), "replayed")
  })

  it("is taken by each subscription, since the server sends one message to all of them", () => {
    const other = receiver.taken()
    const signature = sender.sign(subject, data)
    assert.isUndefined(judge(signature))
    assert.isUndefined(judge(signature, { taken: other }))
    assert.strictEqual(judge(signature, { taken: other }), "replayed")
  })

  it("that was taken is refused by subscriptions that begin later", () => {
    const signature = sender.sign(subject, data)
    assert.isUndefined(judge(signature))
    assert.strictEqual(judge(signature, { taken: receiver.taken() }), "replayed")
  })

  it("of its own is not taken back: who says it again is another", () => {
    assert.strictEqual(judge(receiver.sign(subject, data)), "replayed")
    assert.strictEqual(judge(receiver.sign(subject, data), { taken: new Map() }), "replayed")
  })

  it("vouches for subject and text", () => {
    const signature = sender.sign(subject, data)
    assert.strictEqual(judge(signature, { subject: "troupe.v1.wake.8" }), "forged")
    assert.strictEqual(judge(signature, { data: bytes(`{"v":2}`) }), "forged")
    assert.strictEqual(judge(signature, { subject: `${subject}\n`, data: bytes(`\n{"v":1}`) }), "forged")
    // A forgery uses nothing up.
    assert.isUndefined(judge(signature))
  })

  it("vouches for its own parts: no character of it can be another one", () => {
    const signature = sender.sign(subject, data)
    for (let i = 0; i < signature.length; i++) {
      const altered = `${signature.slice(0, i)}${signature[i] === "1" ? "2" : "1"}${signature.slice(i + 1)}`
      assert.isDefined(judge(altered), `at ${i} of ${signature}`)
    }
    assert.isUndefined(judge(signature))
  })

  it.each(["", "x", ".....", "1.2.3.4.5", `${"a".repeat(12)}.b`])("is not %j", (text) => assert.isDefined(judge(text)))

  it("is good for as long as the window, either way, and not a millisecond longer", () => {
    const signature = sender.sign(subject, data)
    turn(windowMs + 1)
    assert.strictEqual(judge(signature), "late")
    turn(-1)
    assert.isUndefined(judge(signature))
    turn(windowMs + 1)
    const ahead = sender.sign(subject, data)
    turn(-windowMs - 1)
    assert.strictEqual(judge(ahead), "late")
    turn(1)
    assert.isUndefined(judge(ahead))
  })

  it("of an answer is good for its question alone", () => {
    const [question, other] = [sender.sign(subject, data), sender.sign(subject, data)]
    const answer = receiver.sign("troupe.v1.answer.1", data, question)
    const about = (about: string) => sender.mistrusted(answer, { subject: "troupe.v1.answer.1", data, about })
    assert.isUndefined(about(question))
    assert.strictEqual(about(other), "forged")
    assert.strictEqual(about(""), "forged")
  })

  it("fits into what is set aside for it", () => {
    const long = makeSignatures([k1!], () => 36 ** 9)
    assert.isBelow(`NATS/1.0\r\n${signatureHeader}: ${long.sign(subject, data)}\r\n\r\n`.length, signatureBytes)
  })
})

describe("keys", () => {
  const { now } = clock()
  const message = () => ({ subject, data, taken: new Map() })

  it("that are not shared are refused as such, and tell nothing of themselves by their names", () => {
    assert.strictEqual(
      makeSignatures([k2!], now).mistrusted(makeSignatures([k1!], now).sign(subject, data), message()),
      "unknown_key"
    )
    assert.strictEqual(new Set([k1, k2, k3].map((key) => key!.name)).size, 3)
    for (const [i, { name }] of [k1!, k2!, k3!].entries())
      assert.notInclude(Buffer.from(secrets[i]!).toString("base64url"), name)
  })

  it("all verify, the first signs: while they are rotated, every node takes what every other sends", () => {
    const steps = [[k1!], [k1!, k2!], [k2!, k1!], [k2!]]
    for (const [i, before] of steps.entries()) {
      const after = steps[i + 1] ?? before
      for (const [from, to] of [
        [before, after],
        [after, before]
      ] as const) {
        assert.isUndefined(makeSignatures(to, now).mistrusted(makeSignatures(from, now).sign(subject, data), message()))
      }
    }
  })

  it("of another name do not verify what the right one signed", () => {
    const signature = makeSignatures([k1!], now).sign(subject, data)
    assert.strictEqual(
      makeSignatures([k1!, k2!], now).mistrusted(signature.replace(k1!.name, k2!.name), message()),
      "forged"
    )
  })
})

it("senders that are gone are forgotten", () => {
  const { now, turn } = clock()
  const receiver = makeSignatures([k1!], now)
  const taken = receiver.taken()
  for (let i = 0; i < 1_000; i++) {
    assert.isUndefined(receiver.mistrusted(makeSignatures([k1!], now).sign(subject, data), { subject, data, taken }))
    turn(1_000)
  }
  assert.isAtMost(taken.size, 260)
  assert.isAtMost(receiver.taken().size, 260)
})
