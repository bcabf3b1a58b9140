/** Toolsets as tests make and change them. */
import { assert } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { sharedServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"

export const tool = (fields: object = {}) => ({ name: "ask", inputSchema: { type: "object" }, ...fields })

/** A schema of exactly so many bytes. */
export const schemaOf = (bytes: number) => {
  const schema = { type: "object", description: "" }
  return { ...schema, description: "d".repeat(bytes - JSON.stringify(schema).length) }
}

/** What a file's tests stand on: the worker's server, and a server of tools. */
export const toolsetStand = async () => {
  const server = await sharedServer()
  const mcp = await during(startMcpServer())
  let made = 0
  /** A namespace that no other test has. */
  const fresh = () => `ns${made++}`

  const postMcp = (fields: object = {}, headers?: Record<string, string>) =>
    server.alpha.post("/v1/toolsets", { kind: "mcp", namespace: fresh(), url: mcp.url, ...fields }, headers)
  const postClient = (fields: object = {}, client = server.alpha) =>
    client.post("/v1/toolsets", { kind: "client", namespace: fresh(), tools: [tool()], ...fields })
  const created = async (answer: ReturnType<typeof postMcp>) => {
    const made = await answer
    assert.strictEqual(made.status, 201, made.text)
    return made.body.toolset
  }
  const names = async (id: string) =>
    (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body.tools.map(({ name }: { name: string }) => name)
  const patch = (id: string, body: object, headers?: Record<string, string>) =>
    server.alpha.send("PATCH", `/v1/toolsets/${id}`, body, headers)

  const urlOf = (bytes: number) => `${mcp.url}/${"p".repeat(bytes - mcp.url.length - 1)}`
  return { created, fresh, mcp, names, patch, postClient, postMcp, server, urlOf }
}
