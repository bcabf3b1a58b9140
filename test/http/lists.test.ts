/** Every list that takes a limit: how many rows it gives without one, and that it takes what its table says. */
import { assert, describe, it } from "@effect/vitest"
import { pages } from "../../src/domain/limits.ts"
import { png } from "../images.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { type Operation, operations, titleOf } from "./document.ts"
import { furnish, pathWith } from "./everything.ts"
import { text } from "./threadFixture.ts"

const memory = { memory: "memoryEntries", "memory/entry/versions": "memoryVersions" } as const
/** The row of the contract's table that each list goes by. */
const rowOf: Readonly<Record<string, keyof typeof pages>> = {
  "/v1/models": "models",
  "/v1/profiles": "profiles",
  "/v1/profiles/{profileId}/versions": "profiles",
  "/v1/agents": "agents",
  "/v1/agents/{agentId}/images": "images",
  "/v1/threads": "threads",
  "/v1/threads/{threadId}/events": "events",
  "/v1/threads/{threadId}/turns": "turns",
  "/v1/tools/calls": "toolCalls",
  "/v1/actors/{actorId}/steps": "actorSteps",
  "/v1/toolsets": "toolsets",
  "/v1/connections": "connections",
  "/v1/roles": "roles",
  "/v1/hooks/decisions": "hookDecisions",
  "/v1/feeds": "feeds",
  "/v1/feeds/{feedId}/messages": "feedMessages",
  "/v1/agents/{agentId}/schedules": "schedules",
  "/v1/agents/{agentId}/schedules/{scheduleId}/runs": "scheduleRuns",
  "/v1/subscriptions": "subscriptions",
  "/v1/subscriptions/{subscriptionId}/evaluations": "evaluations",
  "/v1/operations": "operations",
  "/v1/webhooks": "webhooks",
  "/v1/webhooks/{webhookId}/deliveries": "webhookDeliveries",
  "/v1/auth/keys": "keys",
  "/v1/identities": "identities",
  "/v1/usage": "usage",
  ...Object.fromEntries(
    Object.entries(memory).flatMap(([path, row]) => [
      [`/v1/agents/{agentId}/${path}`, row],
      [`/v1/${path}`, row]
    ])
  )
}

/** A search finds at most so many, and has no pages. */
const isList = ({ parameters, path }: Operation) =>
  parameters.some(({ name }) => name === "limit") && !path.endsWith("/search")
const lists = operations.filter(isList)

const server = await during(startServer())
const client = await server.client(await server.workspace("lists"))
const ids = await furnish(client)

const made = async (path: string, body: object) => {
  const answer = await client.post(path, body)
  assert.isTrue(answer.status === 200 || answer.status === 201, answer.text)
}

/** Rows of a list, one at a time: the i-th. */
const ways: Readonly<Record<string, (i: number) => Promise<unknown>>> = {
  "/v1/profiles": (i) => made("/v1/profiles", { name: `P${i}`, models: ["troupe/scripted"] }),
  "/v1/profiles/{profileId}/versions": async (i) => {
    const { status } = await client.patch(`/v1/profiles/${ids.profileId}`, { name: `V${i}` })
    assert.strictEqual(status, 200)
  },
  "/v1/agents": (i) => made("/v1/agents", { name: `A${i}`, profileId: ids.profileId }),
  "/v1/agents/{agentId}/images": (i) =>
    made(`/v1/agents/${ids.agentId}/images`, { format: "png", data: png(i + 1, 2).toString("base64") }),
  "/v1/threads": () => made("/v1/threads", { agentId: ids.agentId }),
  "/v1/toolsets": (i) =>
    made("/v1/toolsets", {
      kind: "client",
      namespace: `t${i}`,
      tools: [{ name: "t", inputSchema: { type: "object" } }]
    }),
  "/v1/connections": () =>
    made("/v1/connections", { provider: "p", name: "C", secret: { token: "t" }, allowedHosts: ["a.example.com"] }),
  "/v1/roles": (i) => made("/v1/roles", { name: `R${i}` }),
  "/v1/feeds": (i) => made("/v1/feeds", { name: `feed${i}` }),
  "/v1/feeds/{feedId}/messages": (i) => made(`/v1/feeds/${ids.feedId}/messages`, { messages: [{ text: `m${i}` }] }),
  "/v1/agents/{agentId}/memory": (i) => client.put(`/v1/agents/${ids.agentId}/memory/entry?key=${i}`, { value: "v" }),
  "/v1/memory": (i) => client.put(`/v1/memory/entry?key=${i}`, { value: "v" }),
  "/v1/agents/{agentId}/schedules": (i) =>
    made(`/v1/agents/${ids.agentId}/schedules`, {
      name: `S${i}`,
      trigger: { type: "interval", seconds: 86_400 },
      target: { mode: "spawn" },
      message: { content: text("S") }
    }),
  "/v1/subscriptions": () =>
    made(`/v1/agents/${ids.agentId}/subscriptions`, { feedId: ids.feedId, condition: "false" }),
  "/v1/operations": (i) => made("/v1/identities/disable", { identity: `o${i}@example.com` }),
  "/v1/auth/keys": (i) => made("/v1/auth/keys", { name: `K${i}`, scopes: ["read"] }),
  "/v1/identities": (i) => made("/v1/identities/disable", { identity: `i${i}@example.com` }),
  "/v1/webhooks/{webhookId}/deliveries": () => made(`/v1/webhooks/${ids.webhookId}/test`, {})
}

/** What stands in a page. */
const rowsIn = (body: object) => Object.values(body).find(Array.isArray) ?? assert.fail("there is no list")

describe("a list", () => {
  it("has its row in the table of limits", () => {
    assert.deepStrictEqual(lists.map(({ path }) => path).toSorted(), Object.keys(rowOf).toSorted())
    assert.sameMembers([...new Set(Object.values(rowOf))], Object.keys(pages))
  })

  it.each(lists.map((list) => [titleOf(list), list] as const))(
    "takes a limit of 1 and of its most, and refuses none and one more: %s",
    async (_, { path }) => {
      const [, most] = pages[rowOf[path] ?? assert.fail(path)]
      const found = pathWith(path, ids)
      const get = (limit: number) => client.get(`${found}${found.includes("?") ? "&" : "?"}limit=${limit}`)
      for (const limit of [1, most]) {
        const { body, status, text } = await get(limit)
        assert.strictEqual(status, 200, text)
        assert.isAtMost(rowsIn(body).length, limit)
      }
      for (const limit of [0, most + 1]) {
        const { body, status } = await get(limit)
        assert.deepStrictEqual(
          [status, body.code, body.message],
          [400, "limit_out_of_range", `limit: expected a whole number from 1 to ${most}`]
        )
      }
    }
  )

  it.each(Object.keys(ways))("has its usual rows without a limit, and one more with it: %s", async (path) => {
    const [usual] = pages[rowOf[path] ?? assert.fail(path)]
    const way = ways[path] ?? assert.fail(path)
    const found = pathWith(path, ids)
    for (let i = 0; rowsIn((await client.get(`${found}?limit=${usual + 1}`)).body).length <= usual; i++) {
      assert.isAtMost(i, usual)
      await way(i)
    }
    const { body } = await client.get(found)
    assert.lengthOf(rowsIn(body), usual)
    assert.isDefined(body.nextCursor ?? body.nextSeq)
  })
})
