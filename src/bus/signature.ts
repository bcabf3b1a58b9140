/**
 * Messages between nodes carry a signature, so that whoever may publish on the bus is not thereby a node.
 *
 * A1. A signature vouches for the subject, the text, the moment and the sender's count; that of an answer also for
 *     the question. The key is derived from one of TROUPE_ENCRYPTION_KEYS: the first signs, all verify.
 * A2. A message is taken once by each subscription: a sender's counts rise, since NATS keeps the order of what one
 *     connection publishes. A new subscription knows from the others what it could not see for itself.
 * A3. A message older than the window is refused: nobody has to remember senders for longer. Moments are the
 *     database's, which all nodes know to within a beat, whatever their own clocks say.
 * A4. Nothing is remembered of a message before its signature was found to be right.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto"

export interface BusKey {
  /** Tells which key it is without telling the key: the same on all nodes. */
  readonly name: string
  readonly key: KeyObject
}

/** Why a message is not taken. */
export type Mistrust = "unsigned" | "unknown_key" | "forged" | "late" | "replayed"

/** The highest count of each sender that was taken, and when it was sent. */
export type TakenCounts = Map<string, { readonly count: number; readonly at: number }>

export interface Signatures {
  /** `about` is the signature that is answered. */
  readonly sign: (subject: string, data: Uint8Array, about?: string) => string
  /** What a new subscription has to remember (A2). */
  readonly taken: () => TakenCounts
  /** Undefined when the message is to be taken. Without `taken`, an answer: it is good for its question only. */
  readonly mistrusted: (
    signature: string,
    message: {
      readonly subject: string
      readonly data: Uint8Array
      readonly about?: string
      readonly taken?: TakenCounts
    }
  ) => Mistrust | undefined
}

/** Milliseconds that a message may be old, or ahead of this node's own view of the time (A3). */
export const windowMs = 30_000
/** Longest signature, with the name of its header. */
export const signatureBytes = 256
/** Senders that are remembered before those outside of the window are forgotten: each life of a node is one. */
const manySenders = 256

const derived = (secret: Uint8Array, purpose: string, bytes: number) =>
  new Uint8Array(hkdfSync("sha256", secret, "", purpose, bytes))

/** Of secrets of 32 bytes each. */
export const busKeys = (secrets: ReadonlyArray<Uint8Array>): ReadonlyArray<BusKey> =>
  secrets.map((secret) => ({
    name: Buffer.from(derived(secret, "troupe bus key name", 9)).toString("base64url"),
    key: createSecretKey(derived(secret, "troupe bus", 32))
  }))

/** Name of the key, sender, count and moment in base 36, code. */
const form = /^([A-Za-z0-9_-]{12})\.([A-Za-z0-9_-]{16})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/

/** Subjects hold no line end, and a signature none either: what follows the second one is the text. */
const macOf = (key: KeyObject, head: string, subject: string, about: string, data: Uint8Array) =>
  createHmac("sha256", key).update(`${head} ${subject}\n${about}\n`).update(data).digest("base64url")

/** As texts: some texts decode to the same bytes. */
const same = (a: string, b: string) => timingSafeEqual(Buffer.from(a), Buffer.from(b))

const forgetOld = (taken: TakenCounts, now: number) => {
  if (taken.size <= manySenders) return
  for (const [sender, { at }] of taken) if (now - at > windowMs) taken.delete(sender)
}

export const makeSignatures = (keys: ReadonlyArray<BusKey>, now: () => number): Signatures => {
  const [first] = keys
  if (first === undefined) throw new Error("messages between nodes are signed with at least one key")
  const known = new Map(keys.map(({ key, name }) => [name, key]))
  const self = randomBytes(12).toString("base64url")
  let count = 0
  /** Over all subscriptions. */
  const everywhere: TakenCounts = new Map()

  return {
    sign: (subject, data, about = "") => {
      const head = `${first.name}.${self}.${(++count).toString(36)}.${now().toString(36)}`
      return `${head}.${macOf(first.key, head, subject, about, data)}`
    },
    taken: () => new Map(everywhere),
    mistrusted: (signature, { about = "", data, subject, taken }) => {
      const [, name = "", sender = "", counted = "", moment = "", code = ""] = form.exec(signature) ?? []
      const key = known.get(name)
      if (key === undefined) return name === "" ? "forged" : "unknown_key"
      const [count, at] = [Number.parseInt(counted, 36), Number.parseInt(moment, 36)]
      // What costs nothing first; what it says is believed only after the last line.
      if (Math.abs(now() - at) > windowMs) return "late"
      // The server gives nobody back what it has said itself.
      if (sender === self || (taken !== undefined && count <= (taken.get(sender)?.count ?? 0))) return "replayed"
      const head = signature.slice(0, -code.length - 1)
      if (!same(code, macOf(key, head, subject, about, data))) return "forged"
      if (taken === undefined) return undefined
      taken.set(sender, { count, at })
      if (count > (everywhere.get(sender)?.count ?? 0)) everywhere.set(sender, { count, at })
      forgetOld(taken, now())
      forgetOld(everywhere, now())
      return undefined
    }
  }
}
