/** Real nodes that tests kill and start again on the same data: what they run in, and a key for them. */
import { randomBytes } from "node:crypto"
import { resolve } from "node:path"
import { Child } from "./Child.ts"

export const cli = resolve(import.meta.dirname, "../../src/start.mjs")

/** Leases of half a second, and no limits. */
export const mortalEnv = (databaseUrl: string): Readonly<Record<string, string>> => ({
  TROUPE_DATABASE_URL: databaseUrl,
  TROUPE_PORT: "0",
  TROUPE_LEASE_TTL_MS: "500",
  TROUPE_RATE_LIMIT: "0",
  TROUPE_WORKSPACE_RATE_LIMIT: "0",
  TROUPE_METRICS: "off",
  TROUPE_LOG_FORMAT: "json",
  TROUPE_SCRIPTED_MODELS: "true",
  TROUPE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`
})

/** A key with all scopes, as the command makes it. */
export const madeKey = async (env: Readonly<Record<string, string>>) => {
  const made = new Child(process.execPath, [cli, "keys", "create", "-o", "json"], { env })
  const [, key = ""] = await made.until(/"key":\s*"([^"]+)"/)
  await made.ended()
  return key
}
