/** Connections as tests make and use them. */
import { assert } from "@effect/vitest"
import { Redacted } from "effect"
import { Connections } from "../../src/connections/Connections.ts"
import type { TestServer } from "../setup/server.ts"

export const whsec = (bytes: number, fill = 1) => `whsec_${Buffer.alloc(bytes, fill).toString("base64")}`
export const token = "a-token-of-some-length"
export const allowedHosts = ["tools.example.com"]

/** Of the server that a file of tests has started. */
export const makeConnectionTools = (server: TestServer) => {
  const post = (fields: Record<string, unknown> = {}) =>
    server.alpha.post("/v1/connections", {
      provider: "example",
      name: "C",
      secret: { token },
      allowedHosts,
      ...fields
    })
  const create = async (fields: Record<string, unknown> = {}) => {
    const made = await post(fields)
    assert.strictEqual(made.status, 201, made.text)
    return made.body.connection
  }

  const used = async (id: string, workspace = server.workspaces.alpha) => {
    const connections = await server.runtime.runPromise(Connections)
    return await server.runtime.runPromise(connections.secret(workspace, id))
  }

  /** The secret as toolsets and hooks get it, in the open. */
  const secretOf = async (id: string, workspace = server.workspaces.alpha) => {
    const found = await used(id, workspace)
    if (found === undefined) return undefined
    switch (found.kind) {
      case "token":
        return { token: Redacted.value(found.token) }
      case "apiKey":
        return { apiKey: Redacted.value(found.apiKey) }
      case "signing":
        return { signing: found.secrets.map(Redacted.value) }
    }
  }
  return { create, post, secretOf, used }
}
