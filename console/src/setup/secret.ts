/** The kinds of credentials, and how each is sent. */
import type { components } from "../../../src/client/types.ts"

export type Kind = components["schemas"]["Connection"]["kind"]

export const kinds: Readonly<Record<Kind, string>> = { apiKey: "API key", token: "token", signing: "signing secret" }

export const secretOf = (kind: Kind, value: string): components["schemas"]["ConnectionSecret"] =>
  kind === "apiKey" ? { apiKey: value } : kind === "token" ? { token: value } : { signingSecret: value }
