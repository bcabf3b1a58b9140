/** Subscriptions as tests make them, and what their agents are told. */
import { sql } from "kysely"
import { assert } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import type { TestServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { logOf } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

export interface Told {
  readonly text: string
  readonly principal: { readonly type: string; readonly id: string }
  readonly threadId: string
}

/** Of the server that a file of tests has started. */
export const makeSubscriptionTools = (server: TestServer) => {
  const makeFeed = async (): Promise<string> => {
    const made = await server.alpha.post("/v1/feeds", { name: fresh("feed") })
    assert.strictEqual(made.status, 201, made.text)
    return made.body.feed.id
  }
  const append = async (feedId: string, ...messages: ReadonlyArray<string | object>) => {
    const sent = await server.alpha.post(`/v1/feeds/${feedId}/messages`, {
      messages: messages.map((message) => (typeof message === "string" ? { text: message } : message))
    })
    assert.strictEqual(sent.status, 201, sent.text)
    return sent.body.endSeq as number
  }
  const subscribe = (agentId: string, feedId: string, more: object = {}) =>
    server.alpha.post(`/v1/agents/${agentId}/subscriptions`, { feedId, ...more })
  const subscribed = async (agentId: string, feedId: string, more: object = {}) => {
    const made = await subscribe(agentId, feedId, more)
    assert.strictEqual(made.status, 201, made.text)
    return made.body
  }
  const read = async (id: string) => (await server.alpha.get(`/v1/subscriptions/${id}`)).body

  /** What the agent was told by subscriptions, thread by thread. */
  const toldTo = async (agentId: string): Promise<ReadonlyArray<Told>> => {
    const { body } = await server.alpha.get(`/v1/threads?agentId=${agentId}&limit=200&includeArchived=true`)
    const logs = await Promise.all(
      body.threads.map(async ({ thread: { id } }: { thread: { id: string } }) => {
        const log = await logOf(server.alpha, id, (log) => log.length > 0)
        return log
          .filter(({ type }) => type === "user_message")
          .map((event: any) => ({ text: event.content[0].text, principal: event.principal, threadId: id }))
      })
    )
    return logs.flat()
  }
  const toldTimes = (agentId: string, times: number) =>
    until(`${times} messages`, async () => {
      const told = await toldTo(agentId)
      return told.length >= times && told
    })

  const status = (id: string, wanted: string) =>
    until(wanted, async () => {
      const found = await read(id)
      return found.lastStatus === wanted && found
    })
  const statusOf = async (id: string) =>
    ((await server.query(sql`select status from heads where id = ${toUuid(id)}::uuid`)).rows[0] as any)
      ?.status as string

  /** Its feed knows of its last change. */
  const listed = (id: string) =>
    until("told", async () => {
      const { rows } = await server.query(
        sql`select condition from subscribers where id = ${toUuid(id)}::uuid and listed`
      )
      return (rows[0] as any)?.condition === (await read(id)).condition
    })
  return { append, listed, makeFeed, read, status, statusOf, subscribe, subscribed, toldTimes, toldTo }
}
