/** Profiles as tests make them, and what they name. */
import { assert } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { newSecret } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"

export const client = { type: "client" }
export const url = { type: "url", url: "https://hooks.example.com/judge" }
export const hook = (fields: object = {}) => ({ name: "h", point: "before_tool_call", processor: client, ...fields })

/** What a file's tests stand on. */
export const profileStand = async () => {
  const server = await during(startServer())
  const directory = await server.runtime.runPromise(Directory)
  const post = (fields: Record<string, unknown> = {}) =>
    server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })
  const create = async (fields: Record<string, unknown> = {}) => {
    const made = await post(fields)
    assert.strictEqual(made.status, 201, made.text)
    return made.body.profile
  }
  const patch = async (id: string, body: object) => {
    const answer = await server.alpha.patch(`/v1/profiles/${id}`, body)
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body.profile
  }
  const role = async (client = server.alpha): Promise<string> =>
    (await client.post("/v1/roles", { name: "r", allow: [{ tools: "*" }] })).body.role.id
  const agent = async (client = server.alpha): Promise<string> => {
    const profile = await client.post("/v1/profiles", { name: "R", models: ["troupe/scripted"] })
    return (await client.post("/v1/agents", { name: "Reviewer", profileId: profile.body.profile.id })).body.agent.id
  }
  const connection = async (
    secret: object = { signingSecret: newSecret() },
    client = server.alpha
  ): Promise<string> => {
    const made = await client.post("/v1/connections", {
      allowedHosts: ["tools.example.com"],
      provider: "hooks",
      name: "c",
      secret
    })
    assert.strictEqual(made.status, 201, made.text)
    return made.body.connection.id
  }
  /** As a row: what a toolset is beside that, a profile does not ask. */
  const toolsets = async (count: number, workspace = server.workspaces.alpha): Promise<ReadonlyArray<string>> => {
    const ids = Array.from({ length: count }, () => freshId("toolset"))
    const at = new Date()
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        db
          .insertInto("toolsets")
          .values(
            ids.map((id) => ({
              workspace: toUuid(workspace),
              id: toUuid(id),
              namespace: id.slice(5),
              connection: null,
              body: "{}",
              checked: "{}",
              catalogue: 0,
              rev: 1,
              created_at: at,
              updated_at: at
            }))
          )
          .execute()
      )
    )
    return ids
  }
  const turnsOf = async (profileId: string, version: number) =>
    (await server.runtime.runPromise(directory.profile(server.workspaces.alpha, profileId, version))) ??
    assert.fail("no such version")
  return { agent, connection, create, patch, post, role, server, toolsets, turnsOf }
}
