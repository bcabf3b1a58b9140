import { describe, it } from "@effect/vitest"
import { AgentAnswer, AgentPage } from "../../http/agents/api.ts"
import { AuthContext, KeyCreated, KeyPage } from "../../http/auth/api.ts"
import { ConnectionAnswer, ConnectionPage } from "../../http/connections/api.ts"
import { IdentityPage } from "../../http/identities/api.ts"
import { ModelPage } from "../../http/models/api.ts"
import { OperationPage } from "../../http/operations/api.ts"
import { ProfileAnswer, ProfilePage, ProfileVersionPage, ProfileWritten } from "../../http/profiles/api.ts"
import { readOnly } from "../../src/roles/role.ts"
import { OperationHandle } from "../../src/operations/operation.ts"
import { newSecret } from "../hooks/hookServer.ts"
import { sharedServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"

const server = await sharedServer()

describe("answers of the configuration endpoints", () => {
  it("have exactly the shapes of the contract, with every field set and with as few as possible", async () => {
    const { alpha } = server
    const many = {
      name: "P",
      description: "d",
      models: ["troupe/scripted"],
      systemPrompt: "s",
      limits: { maxSteps: 1 }
    }
    const rich = await alpha.post("/v1/profiles", many)
    const agentId = (await alpha.post("/v1/agents", { name: "R", profileId: rich.body.profile.id })).body.agent.id
    const signing = await alpha.post("/v1/connections", {
      provider: "p",
      name: "C",
      secret: { signingSecret: newSecret() }
    })
    const asking = await alpha.post("/v1/profiles", {
      name: "P",
      models: ["@a"],
      families: ["thread"],
      roleIds: [readOnly.id],
      hooks: [
        { name: "h", point: "before_turn_start", processor: { type: "client" } },
        {
          name: "h",
          point: "before_tool_call",
          match: { tools: ["*"], conditions: [{ path: "", op: "exists" }] },
          timeoutMs: 1_000,
          asyncTimeoutMs: 1_000,
          onError: "ask",
          onTimeout: "fail",
          enabled: false,
          processor: { type: "url", url: "https://hooks.example.com", connectionId: signing.body.connection.id }
        },
        { name: "h", point: "after_model_response", processor: { type: "agent", agentId, instructions: "i" } }
      ]
    })
    const poor = await alpha.post("/v1/profiles", { name: "P", models: ["@a"] })
    const profileId = rich.body.profile.id
    for (const written of [rich, poor, asking, await alpha.patch(`/v1/profiles/${profileId}`, { name: "Q" })])
      assertShape(ProfileWritten, written.body)
    for (const version of [1, 2])
      assertShape(ProfileAnswer, (await alpha.get(`/v1/profiles/${profileId}/versions/${version}`)).body)
    assertShape(ProfilePage, (await alpha.get("/v1/profiles?limit=1")).body)
    assertShape(ProfileVersionPage, (await alpha.get(`/v1/profiles/${profileId}/versions?limit=1`)).body)

    const agent = await alpha.post("/v1/agents", {
      name: "A",
      profileId,
      profileVersion: 1,
      description: "d",
      avatar: "a",
      identity: "ann",
      tags: ["t"],
      budget: { limit: 1, window: "24h" }
    })
    const plain = await alpha.post("/v1/agents", { name: "A", profileId })
    await alpha.delete(`/v1/agents/${plain.body.agent.id}`)
    for (const answer of [agent, plain, await alpha.get(`/v1/agents/${plain.body.agent.id}`)])
      assertShape(AgentAnswer, answer.body)
    assertShape(AgentPage, (await alpha.get("/v1/agents?limit=1&includeArchived=true")).body)

    const key = await alpha.post("/v1/auth/keys", {
      name: "k",
      scopes: ["read"],
      identity: "ann",
      expiresAt: "2999-01-01T00:00:00Z"
    })
    assertShape(KeyCreated, key.body)
    assertShape(KeyPage, (await alpha.get("/v1/auth/keys?limit=1")).body)
    assertShape(AuthContext, (await alpha.get("/v1/auth")).body)

    const connection = await alpha.post("/v1/connections", {
      provider: "p",
      name: "c",
      secret: { token: "long-enough-for-four" },
      baseUrl: "https://a.example",
      allowedHosts: ["a.example"],
      header: "X-API-Key"
    })
    const short = await alpha.post("/v1/connections", {
      provider: "p",
      name: "c",
      secret: { token: "short" },
      allowedHosts: ["tools.example.com"]
    })
    const changed = await alpha.patch(`/v1/connections/${short.body.connection.id}`, { name: "d" })
    for (const answer of [connection, short, changed, await alpha.get(`/v1/connections/${short.body.connection.id}`)])
      assertShape(ConnectionAnswer, answer.body)
    assertShape(ConnectionPage, (await alpha.get("/v1/connections?limit=1")).body)

    for (const verb of ["disable", "disable", "enable"]) {
      const { body } = await alpha.post(`/v1/identities/${verb}`, { identity: "bo" })
      assertShape(OperationHandle, body)
      assertShape(OperationHandle, (await alpha.get(`/v1/operations/${body.operation.id}`)).body)
      assertShape(IdentityPage, { identities: [body.operation.result.body.identity] })
    }
    assertShape(IdentityPage, (await alpha.get("/v1/identities?limit=1")).body)
    assertShape(OperationPage, (await alpha.get("/v1/operations?limit=1")).body)
    assertShape(ModelPage, (await alpha.get("/v1/models?limit=1")).body)
  })
})
