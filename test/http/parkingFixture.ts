/** Requests that wait for approval, as tests ask and decide them. */
import { assert } from "@effect/vitest"
import type { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { type Client, type KeyOptions, sharing, startServer, type TestServer } from "../setup/server.ts"
import { makeAgent } from "./threadFixture.ts"

/** The worker's server that looks after operations, as every node does. */
export const parkingServer = sharing(() => startServer({ tendsOperations: true }))

export const policy = "/v1/approval-policy"
export const rule = (...actions: ReadonlyArray<string>) => ({
  actions,
  principals: ["api_key", "user"],
  require: true
})

let spaces = 0
/** Makes workspaces with a policy: keys of one who asks, and of one who decides. */
export const makeSpaces =
  (server: TestServer) =>
  async (rules: ReadonlyArray<object>, asker: KeyOptions = {}) => {
    const id = await server.workspace(`parking ${++spaces}`)
    const admin = await server.client(id)
    const profileId: string = (await admin.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body
      .profile.id
    const agentId = await makeAgent(admin)
    const put = await admin.put(policy, { rules })
    assert.strictEqual(put.status, 200, put.text)
    return {
      id,
      admin,
      profileId,
      agentId,
      asker: await server.client(id, asker),
      decider: await server.client(id)
    }
  }

export const parked = async (asked: ReturnType<Client["send"]>) => {
  const answer = await asked
  assert.strictEqual(answer.status, 202, answer.text)
  const { operation } = answer.body
  assert.strictEqual(operation.state, "pending")
  assert.strictEqual(answer.headers.get("location"), `/v1/operations/${operation.id}`)
  assert.strictEqual(answer.headers.get("retry-after"), "2")
  return operation
}

type Verdict = "approve" | "deny" | "cancel"
export const decide = async (client: Client, verdict: Verdict, { id }: { readonly id: string }) =>
  client.post(`/v1/operations/${id}/${verdict}`)
export const decided = async (client: Client, verdict: Verdict, operation: { readonly id: string }) => {
  const answer = await decide(client, verdict, operation)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.operation
}

export const agentsOf = async (client: Client) => (await client.get("/v1/agents")).body.agents.length

/** Changes an operation behind the server's back. */
export const change = (
  server: TestServer,
  work: (id: string) => ReturnType<typeof sql>,
  { id }: { readonly id: string }
) => server.query(work(toUuid(id)))
