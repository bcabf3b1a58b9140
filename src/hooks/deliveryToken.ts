/**
 * The token in a delivery, with which its receiver may answer an ask later, without a key of the workspace.
 *
 * T1. Nothing of it is stored: it says whose delivery it is, and a server key vouches for that. Every node
 *     of an installation knows the key, so any of them takes it.
 * T2. It is good for one delivery and one answer: the wait behind it is resolved once, and expires.
 */
import { Context, Layer } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { body, isIdOf, prefixes } from "../domain/ids.ts"

interface Delivered {
  readonly workspace: string
  readonly threadId: string
  readonly deliveryId: string
}

export class DeliveryTokens extends Context.Service<
  DeliveryTokens,
  {
    readonly of: (delivered: Delivered) => string
    /** Whose delivery it is, when it is a token for this one. */
    readonly open: (deliveryId: string, token: string) => Delivered | undefined
  }
>()("troupe/hooks/DeliveryTokens") {
  /** The first secret makes tokens, all of them open them. */
  static readonly layer = (secrets: ReadonlyArray<Uint8Array>) => Layer.sync(DeliveryTokens, () => make(secrets))
}

const isWorkspace = isIdOf("workspace")
const isThread = isIdOf("thread")
const form = /^trd_([0-9a-z]{26})([0-9a-z]{26})([A-Za-z0-9_-]{43})$/

const make = (secrets: ReadonlyArray<Uint8Array>): DeliveryTokens["Service"] => {
  const keys = secrets.map((secret) => new Uint8Array(hkdfSync("sha256", secret, "", "troupe hook deliveries", 32)))
  const first = keys[0]
  if (first === undefined) throw new Error("delivery tokens need a secret")

  const sign = (key: Uint8Array, { deliveryId, threadId, workspace }: Delivered) =>
    createHmac("sha256", key).update([workspace, threadId, deliveryId].join("\0")).digest()

  return {
    of: (delivered) =>
      `trd_${body(delivered.workspace)}${body(delivered.threadId)}${sign(first, delivered).toString("base64url")}`,
    open: (deliveryId, token) => {
      const [, ofWorkspace, ofThread, signature = ""] = form.exec(token) ?? []
      const delivered = {
        workspace: `${prefixes.workspace}${ofWorkspace}`,
        threadId: `${prefixes.thread}${ofThread}`,
        deliveryId
      }
      if (!isWorkspace(delivered.workspace) || !isThread(delivered.threadId)) return undefined
      const given = Buffer.from(signature, "base64url")
      // One spelling: the last character holds two bits that say nothing.
      if (given.toString("base64url") !== signature) return undefined
      return keys.some((key) => timingSafeEqual(given, sign(key, delivered))) ? delivered : undefined
    }
  }
}
