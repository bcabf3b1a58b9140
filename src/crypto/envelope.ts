/**
 * Secrets at rest: each is encrypted with a data key of its own, and that key with one of TROUPE_ENCRYPTION_KEYS.
 *
 * V1. The first key of the list encrypts, all decrypt. A sealed text names its key: `v1.<key id>.<data key>.<secret>`.
 * V2. Workspace, resource and purpose are associated data of both boxes: a sealed text opens only where it was made
 *     for.
 * V3. The list's keys never encrypt directly: what does is derived from them, so that they may serve other ends too.
 */
import { Context, Layer, Redacted } from "effect"
import { hkdfSync, randomBytes } from "node:crypto"
import { box, NotOpened, open } from "./box.ts"

export interface EncryptionKey {
  readonly id: string
  /** 32 bytes. */
  readonly key: Redacted.Redacted<Uint8Array>
}

/** What a secret belongs to. Ids with their prefixes. */
export interface SecretPlace {
  readonly workspace: string
  readonly id: string
  /** Such as `connection`. */
  readonly purpose: string
}

export class SecretEnvelope extends Context.Service<
  SecretEnvelope,
  {
    readonly seal: (place: SecretPlace, secret: string) => string
    /** Sealed with the first key, as `seal` does. */
    readonly isCurrent: (sealed: string) => boolean
    /** Throws NotOpened: of another place, changed, or sealed with a key that is not in the list. */
    readonly open: (place: SecretPlace, sealed: string) => string
  }
>()("troupe/crypto/Envelope") {
  /** At least one key. */
  static readonly layer = (keys: ReadonlyArray<EncryptionKey>) => Layer.sync(SecretEnvelope, () => makeEnvelope(keys))
}

const version = "v1"

/** Ids and purposes hold no line end. */
const contextOf = ({ id, purpose, workspace }: SecretPlace, keyId: string) =>
  [version, keyId, workspace, id, purpose].join("\n")

const derived = (key: Redacted.Redacted<Uint8Array>) =>
  new Uint8Array(hkdfSync("sha256", Redacted.value(key), "", "troupe envelope", 32))

/** The id of the key that a text was sealed with. */
export const keyIdOf = (sealed: string): string | undefined => {
  const [of, keyId] = sealed.split(".")
  return of === version ? keyId : undefined
}

export const makeEnvelope = (keys: ReadonlyArray<EncryptionKey>): SecretEnvelope["Service"] => {
  const wrapping = new Map(keys.map(({ id, key }) => [id, derived(key)]))
  const [first] = wrapping
  if (first === undefined) throw new Error("secrets are sealed with at least one key")
  return {
    seal: (place, secret) => {
      const [keyId, key] = first
      const context = contextOf(place, keyId)
      const dataKey = randomBytes(32)
      return [version, keyId, box(key, dataKey, context), box(dataKey, secret, context)].join(".")
    },
    isCurrent: (sealed) => keyIdOf(sealed) === first[0],
    open: (place, sealed) => {
      const [of, keyId = "", wrapped = "", boxed = "", ...more] = sealed.split(".")
      const key = wrapping.get(keyId)
      if (of !== version || more.length > 0) throw new NotOpened("not a sealed text of this server")
      if (key === undefined) throw new NotOpened("sealed with a key that is not in TROUPE_ENCRYPTION_KEYS")
      const context = contextOf(place, keyId)
      return Buffer.from(open(open(key, wrapped, context), boxed, context)).toString("utf8")
    }
  }
}
