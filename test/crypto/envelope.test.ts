import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { box, NotOpened, open } from "../../src/crypto/box.ts"
import { keyIdOf, makeEnvelope, type SecretPlace } from "../../src/crypto/envelope.ts"

const key = (id: string, fill: number) => ({ id, key: Redacted.make(new Uint8Array(32).fill(fill)) })
const place: SecretPlace = { workspace: "wsp_1", id: "conn_1", purpose: "connection" }
const one = makeEnvelope([key("k1", 1)])

/** What opening throws; undefined when it does not. */
const thrown = (work: () => unknown): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
const notOpened = (work: () => unknown, message?: string) => assert.instanceOf(thrown(work), NotOpened, message)

describe("an envelope", () => {
  it("opens to what was sealed, whatever it was", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "grapheme" })).map((text) => text.toWellFormed()),
        (secret) => {
          assert.strictEqual(one.open(place, one.seal(place, secret)), secret)
        }
      )
    )
    const long = "x".repeat(20_000)
    assert.strictEqual(one.open(place, one.seal(place, long)), long)
  })

  it("is another text each time, and shows nothing of the secret but its length", () => {
    const sealed = [one.seal(place, "a-secret-of-some-length"), one.seal(place, "a-secret-of-some-length")]
    assert.notStrictEqual(sealed[0], sealed[1])
    const shares = sealed.map((text) => text.split(".").slice(2))
    assert.notStrictEqual(shares[0]?.[0], shares[1]?.[0])
    for (const text of sealed)
      assert.notInclude(Buffer.from(text.replaceAll(".", ""), "base64url").toString("latin1") + text, "secret")
  })

  it("opens nowhere but where it was made for", () => {
    const sealed = one.seal(place, "secret")
    for (const other of [
      { workspace: "wsp_2" },
      { id: "conn_2" },
      { purpose: "webhook" },
      { workspace: "wsp_1\nconn_1", id: "" },
      { workspace: "", id: "wsp_1\nconn_1" }
    ]) {
      notOpened(() => one.open({ ...place, ...other }, sealed), JSON.stringify(other))
    }
  })

  it("does not open with one character changed, wherever it is, nor cut, nor with more", () => {
    const sealed = one.seal(place, "secret")
    for (let i = 0; i < sealed.length; i++) {
      for (const other of ["A", "B", ".", "_", " ", "é"]) {
        if (sealed[i] !== other)
          notOpened(() => one.open(place, sealed.slice(0, i) + other + sealed.slice(i + 1)), `${i} ${other}`)
      }
      notOpened(() => one.open(place, sealed.slice(0, i)), `cut at ${i}`)
    }
    for (const more of ["A", "=", ".", ".x", "\n"]) notOpened(() => one.open(place, sealed + more), more)
    for (const text of ["", ".", "v1", "v1.k1..", "v1.k1.AAAA.AAAA", "v2" + sealed.slice(2), "null", "__proto__"])
      notOpened(() => one.open(place, text), text)
  })

  it("does not open with parts of two put together", () => {
    const [a, b] = [one.seal(place, "secret a").split("."), one.seal(place, "secret b").split(".")]
    notOpened(() => one.open(place, [a[0], a[1], a[2], b[3]].join(".")))
    notOpened(() => one.open(place, [a[0], a[1], a[3], a[2]].join(".")))
    notOpened(() => one.open(place, [a[0], a[1], a[2], a[2]].join(".")))
  })

  it("is made with the first key of the list, and opened with any", () => {
    const old = one.seal(place, "old")
    const both = makeEnvelope([key("k2", 2), key("k1", 1)])
    const fresh = both.seal(place, "new")
    assert.deepStrictEqual([keyIdOf(old), keyIdOf(fresh)], ["k1", "k2"])
    assert.deepStrictEqual([both.open(place, old), both.open(place, fresh)], ["old", "new"])
    notOpened(() => one.open(place, fresh))
    notOpened(() => makeEnvelope([key("k2", 2)]).open(place, old))
  })

  it("does not open with another key of the same name, nor under another name of the same key", () => {
    const sealed = one.seal(place, "secret")
    notOpened(() => makeEnvelope([key("k1", 2)]).open(place, sealed))
    notOpened(() => makeEnvelope([key("k2", 1)]).open(place, sealed.replace(".k1.", ".k2.")))
  })

  it("says why it does not open, without a word of what is in it", () => {
    const sealed = one.seal(place, "secret-canary")
    for (const text of [sealed.slice(0, -1), sealed.replace("k1", "k9"), "x"]) {
      const error = thrown(() => one.open(place, text))
      assert.isTrue(
        error instanceof NotOpened && !error.message.includes("canary") && !error.message.includes(sealed.slice(8))
      )
    }
  })

  it("cannot be had without a key", () => assert.throws(() => makeEnvelope([]), "at least one key"))
})

describe("a box", () => {
  const secret = new Uint8Array(32).fill(3)

  it("opens with its key and context only", () => {
    const boxed = box(secret, "text", "context")
    assert.strictEqual(Buffer.from(open(secret, boxed, "context")).toString(), "text")
    notOpened(() => open(secret, boxed, "other"))
    notOpened(() => open(new Uint8Array(32).fill(4), boxed, "context"))
  })

  it("never uses a nonce twice", () => {
    const nonces = new Set(Array.from({ length: 2_000 }, () => box(secret, "", "").slice(0, 16)))
    assert.strictEqual(nonces.size, 2_000)
  })

  it("has a whole tag: a shorter one does not open it", () => {
    const bytes = Buffer.from(box(secret, "text", ""), "base64url")
    for (let tag = 0; tag < 16; tag++)
      notOpened(() => open(secret, bytes.subarray(0, bytes.length - 16 + tag).toString("base64url"), ""))
  })
})
