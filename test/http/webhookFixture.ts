/** Webhooks as tests make them, and what becomes of their deliveries. */
import { assert } from "@effect/vitest"
import { eventTypes } from "../../src/webhooks/webhook.ts"
import { json, type Received, type Reply, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { furnish, parked } from "./waitFixture.ts"

export const ok: Reply = json({}, 204)
export const input = (more: object = {}) => ({
  url: "https://receiver.example/hook",
  events: ["turn.completed"],
  ...more
})

/** What a file's tests stand on: a server that looks after operations, and endpoints. */
export const webhookStand = async () => {
  const hooks = await during(startHookServer())
  const server = await during(startServer({ tendsOperations: true }))
  const post = (more: object = {}, client = server.alpha) => client.post("/v1/webhooks", input(more))
  const create = async (more: object = {}, client = server.alpha) => {
    const made = await post(more, client)
    assert.strictEqual(made.status, 201, made.text)
    return made.body as { readonly webhook: { readonly id: string } & Record<string, unknown>; readonly secret: string }
  }
  /** A workspace of its own, so that what other tests do is not told here. */
  let spaces = 0
  const ownSpace = async () => {
    const workspace = await server.workspace(`webhooks ${++spaces}`)
    return { workspace, client: await server.client(workspace) }
  }
  const received = async (endpoint: { readonly received: () => ReadonlyArray<Received> }, count: number) =>
    until(`${count} events received`, async () =>
      endpoint.received().length >= count ? endpoint.received() : undefined
    )
  const deliveries = async (client: Client, id: string, query = "") => {
    const page = await client.get(`/v1/webhooks/${id}/deliveries${query}`)
    assert.strictEqual(page.status, 200, page.text)
    return page.body.deliveries as ReadonlyArray<Record<string, unknown> & { readonly id: string }>
  }
  const delivery = (client: Client, id: string, fits: (delivery: Record<string, unknown>) => boolean) =>
    until("a delivery as expected", async () => (await deliveries(client, id)).find(fits))
  const test = async (client: Client, id: string) => {
    const sent = await client.post(`/v1/webhooks/${id}/test`)
    assert.strictEqual(sent.status, 200, sent.text)
    return sent.body.delivery as Record<string, unknown> & { readonly id: string; readonly eventId: string }
  }
  /** An endpoint that is told of everything, and what it was told of one kind, once there is so much of it. */
  const everything = async (client: Client) => {
    const endpoint = hooks.endpoint(ok)
    const { webhook } = await create({ url: endpoint.url, events: eventTypes }, client)
    const told = (type: string, count = 1) =>
      until(`${type} is told`, async () => {
        const found = endpoint.received().filter(({ body }) => body.type === type)
        return found.length >= count ? found.map(({ body }) => body.data) : undefined
      })
    return { told, webhook }
  }
  const parkedWait = async (client: Client) => {
    const desk = await furnish(client, "desk")
    const { threadId } = await parked(client, desk.plain, [desk.tool("print")])
    return { agentId: desk.plain, threadId }
  }
  return { create, deliveries, delivery, everything, hooks, ownSpace, parkedWait, post, received, server, test }
}
