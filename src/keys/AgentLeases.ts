/**
 * Leases of agents: what a tool server gets with a call, so that it may ask this installation on the agent's behalf.
 *
 * N1. Nothing of a lease is stored: it says in whose turn it was given and until when, and a server key vouches for
 *     that. Every node of an installation knows the key, so any of them takes it.
 * N2. It is good for at most 15 minutes, and says nothing of whether its turn still runs: whoever takes it asks.
 * N3. There is one spelling of each: what was cut short, put together or changed is no lease.
 */
import { Context, Effect, Layer } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { alphabet, body, isIdOf, prefixes } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { toTimestamp } from "../domain/time.ts"
import { Lease } from "../journal/Lease.ts"

/** In whose turn a lease is given. */
export interface LeaseHolder {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
  readonly turnId: string
  /** How many messages, each sent in the turn that the one before began, led to this turn. */
  readonly hops: number
}

export interface OpenedLease extends LeaseHolder {
  /** Milliseconds. */
  readonly expiresAt: number
}

/** A lease as a tool server is told of it. */
export interface GivenLease {
  readonly token: string
  readonly expiresAt: string
  /** Where this installation is reached, where it knows that itself. */
  readonly baseUrl?: string
}

export class AgentLeases extends Context.Service<
  AgentLeases,
  {
    readonly give: (holder: LeaseHolder) => GivenLease
    /** In whose turn it was given, when a server key vouches for it; also after its end. */
    readonly open: (token: string) => OpenedLease | undefined
  }
>()("troupe/keys/AgentLeases") {
  /** The first secret makes leases, all of them open them. */
  static readonly layer = (options: {
    readonly secrets: ReadonlyArray<Uint8Array>
    readonly publicUrl: string | undefined
  }) =>
    Layer.effect(
      AgentLeases,
      Effect.map(Lease, ({ now }) => makeAgentLeases({ ...options, now }))
    )
}

const nouns = ["workspace", "agent", "thread", "turn"] as const
const isOf = { workspace: isIdOf("workspace"), agent: isIdOf("agent"), thread: isIdOf("thread"), turn: isIdOf("turn") }
const bodyChars = 26
/** Milliseconds in base32: enough for the next thousand years. */
const timeChars = 9
const mostHops = alphabet.length - 1

const form = /^(trl_[0-9a-hjkmnp-tv-z]{114})([A-Za-z0-9_-]{43})$/
/** Wherever in a text one stands. */
export const leasePattern = /trl_[0-9a-hjkmnp-tv-z]{114}[A-Za-z0-9_-]{43}/g

const toDigits = (n: number, length: number) => {
  let text = ""
  for (let rest = n; text.length < length; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}
const fromDigits = (text: string) => [...text].reduce((n, digit) => n * 32 + alphabet.indexOf(digit), 0)

export const makeAgentLeases = ({
  now,
  publicUrl,
  secrets
}: {
  readonly secrets: ReadonlyArray<Uint8Array>
  readonly publicUrl: string | undefined
  /** Milliseconds by the database's clock. */
  readonly now: () => number
}): AgentLeases["Service"] => {
  const keys = secrets.map((secret) => new Uint8Array(hkdfSync("sha256", secret, "", "troupe agent leases", 32)))
  const first = keys[0]
  if (first === undefined) throw new Error("agent leases need a secret")
  const sign = (key: Uint8Array, text: string) => createHmac("sha256", key).update(text).digest()

  return {
    give: ({ agentId, hops, threadId, turnId, workspace }) => {
      const expiresAt = Math.floor(now()) + limits.leaseSeconds * 1000
      const ids = [workspace, agentId, threadId, turnId].map(body).join("")
      const text = `trl_${ids}${toDigits(expiresAt, timeChars)}${toDigits(Math.min(hops, mostHops), 1)}`
      return {
        token: text + sign(first, text).toString("base64url"),
        expiresAt: toTimestamp(expiresAt),
        ...(publicUrl !== undefined && { baseUrl: publicUrl })
      }
    },
    open: (token) => {
      const [, text = "", signature = ""] = form.exec(token) ?? []
      const given = Buffer.from(signature, "base64url")
      // N3. The last character holds two bits that say nothing.
      if (given.length !== 32 || given.toString("base64url") !== signature) return undefined
      if (!keys.some((key) => timingSafeEqual(given, sign(key, text)))) return undefined
      const parts = text.slice("trl_".length)
      const [workspace, agentId, threadId, turnId] = nouns.map((noun, i) => {
        const id = prefixes[noun] + parts.slice(i * bodyChars, (i + 1) * bodyChars)
        return isOf[noun](id) ? id : undefined
      })
      if (workspace === undefined || agentId === undefined || threadId === undefined || turnId === undefined)
        return undefined
      return {
        workspace,
        agentId,
        threadId,
        turnId,
        expiresAt: fromDigits(parts.slice(-timeChars - 1, -1)),
        hops: fromDigits(parts.slice(-1))
      }
    }
  }
}
