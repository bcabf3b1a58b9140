/** One of everything that has an id, alive, in a workspace: what the parameters of all paths lead to. */
import { createServer } from "node:http"
import { assert } from "@effect/vitest"
import { sibling } from "../../src/domain/ids.ts"
import { png } from "../images.ts"
import type { Client } from "../setup/server.ts"
import { logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

/** By the names that paths give them. */
export type Ids = Readonly<Record<string, string>>

/** Versions of an agent's entry: those of the workspace's that stand for the same in other paths. */
const shared = new Map<string, string>()

/** What a request about memory has to say beside its path. */
const queryOf = (path: string) =>
  /\/memory\/entry/.test(path) ? "?key=k" : /\/memory\/search$/.test(path) ? "?q=v" : ""

/** An endpoint that takes whatever it is told. It ends with the process. */
let receiving: Promise<string> | undefined
const receiver = () =>
  (receiving ??= new Promise((resolve) => {
    const listener = createServer((request, response) =>
      request.resume().on("end", () => response.writeHead(204).end())
    )
    listener.listen(0, "127.0.0.1", () => {
      listener.unref()
      const address = listener.address()
      resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`)
    })
  }))

const webhookOf = async (client: Client) => {
  const made = await client.post("/v1/webhooks", { url: await receiver(), events: ["webhook.test"] })
  assert.strictEqual(made.status, 201, made.text)
  const { id: webhookId } = made.body.webhook
  const sent = await client.post(`/v1/webhooks/${webhookId}/test`)
  assert.strictEqual(sent.status, 200, sent.text)
  // Nothing changes any more once it was taken.
  for (let state = ""; state !== "delivered"; )
    state = (await client.get(`/v1/webhooks/${webhookId}/deliveries`)).body.deliveries[0].state
  return { webhookId, webhookDeliveryId: sent.body.delivery.id as string }
}

let furnished = 0
export const furnish = async (client: Client): Promise<Ids> => {
  const namespace = `desk${++furnished}`
  const made = async (path: string, body: object) => {
    const answer = await client.post(path, body)
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body
  }
  const tools = [
    { name: "ask", inputSchema: { type: "object" } },
    { name: "sign", inputSchema: { type: "object" } }
  ]
  const toolsetId: string = (await made("/v1/toolsets", { kind: "client", namespace, tools })).toolset.id
  const agentId = await makeAgent(client, undefined, { identity: "worker@example.com" })
  const { profileId } = (await client.get(`/v1/agents/${agentId}`)).body.agent
  const hooks = [
    { name: "Signatures", point: "before_tool_call", match: { tools: ["*.sign"] }, processor: { type: "client" } }
  ]
  assert.strictEqual((await client.patch(`/v1/profiles/${profileId}`, { toolsetIds: [toolsetId], hooks })).status, 200)
  // A client owes the result of one call, and a decision about the other.
  const threadId = await makeThread(client, agentId, {
    message: { content: text(`/call ${namespace}.ask {}\n/call ${namespace}.sign {}`) },
    title: "Secret"
  })
  await logOf(client, threadId, (log) => log.filter(({ type }) => type === "wait_created").length === 2)
  const waits: ReadonlyArray<{ readonly id: string; readonly type: string; readonly toolCallId: string }> = (
    await client.get(`/v1/threads/${threadId}`)
  ).body.pendingWaits
  const { id: waitId = "" } = waits.find(({ type }) => type === "hook_ask") ?? {}
  const { toolCallId = "" } = waits.find(({ type }) => type === "client_tool") ?? {}
  const { id: inputId, turnId } = await submit(client, threadId, "waits")
  const hookId: string = (await client.get(`/v1/profiles/${profileId}`)).body.profile.hooks[0].id
  const feedId: string = (await made("/v1/feeds", { name: namespace })).feed.id
  const noted = async (path: string): Promise<string> => (await client.put(path, { value: "v" })).body.entry.version
  const versionId = await noted(`/v1/agents/${agentId}/memory/entry?key=k`)
  shared.set(versionId, await noted("/v1/memory/entry?key=k"))
  return {
    agentId,
    versionId,
    hookId,
    inputId,
    profileId,
    threadId,
    toolCallId,
    toolsetId,
    turnId,
    actorId: threadId,
    waitId,
    deliveryId: sibling("delivery", waitId),
    imageId: (await made(`/v1/agents/${agentId}/images`, { format: "png", data: png(furnished, 1).toString("base64") }))
      .image.id,
    operationId: (await client.post("/v1/identities/disable", { identity: "nobody@example.com" })).body.operation.id,
    connectionId: (
      await made("/v1/connections", {
        provider: "p",
        name: "C",
        secret: { token: "secret" },
        allowedHosts: ["tools.example.com"]
      })
    ).connection.id,
    keyId: (await made("/v1/auth/keys", { name: "K", scopes: ["read"] })).key.id,
    feedId,
    subscriptionId: (await made(`/v1/agents/${agentId}/subscriptions`, { feedId, condition: "false" })).id,
    scheduleId: (
      await made(`/v1/agents/${agentId}/schedules`, {
        name: "S",
        trigger: { type: "interval", seconds: 86_400 },
        target: { mode: "spawn" },
        message: { content: text("S") }
      })
    ).schedule.id,
    roleId: (await made("/v1/roles", { name: "R" })).role.id,
    ...(await webhookOf(client)),
    version: "1"
  }
}

/** The same id with another body, which nobody has. */
export const absent = (id: string) => (id.length > 26 ? `${id.slice(0, -26)}01m7y1svs7e0087pe32vr71000` : "999999")

/** A path with its parameters filled in. One that is not among the ids has to be furnished first. */
export const pathWith = (path: string, ids: Ids) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    // A chart's, which is no workspace's.
    const id = name === "kind" ? "thread" : ids[name]
    assert(id !== undefined && id !== "", `no test has a ${name}: furnish one in test/http/everything.ts`)
    return path.startsWith("/v1/memory/") ? (shared.get(id) ?? id) : id
  }) + queryOf(path)
