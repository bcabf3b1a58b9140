import { assert, describe, it } from "@effect/vitest"
import { generateKey } from "../../src/keys/keyText.ts"
import type { Db } from "../../src/database/handle.ts"
import { revokeKey } from "../../src/keys/rows.ts"
import { ensureKey, ensureWorkspace, UnusableKey } from "../../src/workspaces/ensure.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"

const server = await during(startServer())

const atomically = <A>(work: (tx: Db) => Promise<A>) =>
  server.runtime.runPromise(server.database.atomically("test", work))
const refusal = (token: string, workspace: string) =>
  atomically((tx) =>
    ensureKey(tx, workspace, token).then(
      () => undefined,
      (cause: unknown) => (cause instanceof UnusableKey ? cause.reason : cause)
    )
  )

describe("what a server makes at its start", () => {
  it("makes a workspace once, however many nodes start at the same time", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => atomically((tx) => ensureWorkspace(tx, "default"))))
    assert.strictEqual(new Set(ids).size, 1)
    assert.match(ids[0] ?? "", /^wsp_/)
    assert.notStrictEqual(await atomically((tx) => ensureWorkspace(tx, "other")), ids[0])
  })

  it("makes a key once, and it works", async () => {
    const workspace = await atomically((tx) => ensureWorkspace(tx, "default"))
    const { key } = generateKey()
    const ids = await Promise.all(Array.from({ length: 5 }, () => atomically((tx) => ensureKey(tx, workspace, key))))
    assert.strictEqual(new Set(ids).size, 1)
    assert.strictEqual((await new Client(server.base, key).get("/v1/auth")).body.workspaceId, workspace)
  })

  it("does not revive a revoked key, nor take one that is malformed or of another workspace", async () => {
    const { alpha, beta } = server.workspaces
    const { key } = generateKey()
    const id = await atomically((tx) => ensureKey(tx, alpha, key))
    assert.strictEqual(await refusal("trp_x", alpha), "malformed")
    assert.strictEqual(await refusal(key, beta), "elsewhere")
    await atomically((tx) => revokeKey(tx, alpha, id, Date.now()))
    assert.strictEqual(await refusal(key, alpha), "revoked")
  })

  it("notes when a key was last used, and its use is a sight of its identity", async () => {
    const client = await server.client(server.workspaces.beta, { identity: "busy" })
    const { id } = (await client.get("/v1/auth")).body.principal
    const read = async () =>
      (await server.beta.get("/v1/auth/keys")).body.keys.find((key: { id: string }) => key.id === id)
    const began = Date.now()
    while ((await read()).lastUsedAt === undefined) assert.isBelow(Date.now() - began, 10_000)
    const identity = (await server.beta.get("/v1/identities")).body.identities.find(
      (one: { identity: string }) => one.identity === "busy"
    )
    // The request itself was a sight of it too, a moment apart.
    assert.isAtLeast(Date.parse(identity.lastSeenAt), Date.parse((await read()).lastUsedAt))
  })
})
