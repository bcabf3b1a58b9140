/**
 * An answer that shows a secret once (a new key, a webhook's), as it is kept for its Idempotency-Key: encrypted.
 *
 * A key's secret is never stored (src/keys/Keys.ts, K1), a webhook's only for its signatures, yet a repeated request
 * must get the same answer. The key of the encryption comes from the caller's own credential and Idempotency-Key, of
 * which the database holds only hashes: nobody but the caller can open it.
 */
import { Schema } from "effect"
import { hkdfSync } from "node:crypto"
import { box, open } from "../src/crypto/box.ts"
import type { HttpServerRequest } from "effect/http"
import { header } from "./headers.ts"
import type { Keeping } from "./Idempotency.ts"

interface Secrets {
  /** The header Authorization, as it was sent. */
  readonly authorization: string
  readonly idempotencyKey: string
}

const purpose = "troupe kept token"

const keyOf = ({ authorization, idempotencyKey }: Secrets) =>
  new Uint8Array(hkdfSync("sha256", authorization.replace(/^bearer +/i, "").trim(), idempotencyKey, purpose, 32))

const seal = (token: string, secrets: Secrets) => box(keyOf(secrets), token, purpose)

const unseal = (sealed: string, secrets: Secrets) => Buffer.from(open(keyOf(secrets), sealed, purpose)).toString("utf8")

const Created = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const read = Schema.decodeUnknownSync(Created)

/** The answer to a request, kept with the secret in its `field` sealed. */
export const sealedAnswer = (request: HttpServerRequest.HttpServerRequest, field: "secret" | "token"): Keeping => {
  const secrets: Secrets = {
    authorization: header(request, "authorization") ?? "",
    idempotencyKey: header(request, "idempotency-key") ?? ""
  }
  const changed = (body: string, change: (text: string, secrets: Secrets) => string) => {
    const answer = read(body)
    return JSON.stringify({ ...answer, [field]: change(String(answer[field]), secrets) })
  }
  return { keep: (body) => changed(body, seal), reveal: (kept) => changed(kept, unseal) }
}
