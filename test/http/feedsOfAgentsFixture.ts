/** Feeds as agents use them, by their tools and under their leases. */
import { assert } from "@effect/vitest"
import { sql } from "kysely"
import { Threads } from "../../actors/thread/Threads.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { type Client, sharing, startServer } from "../setup/server.ts"
import { makeFamilyUsers } from "./ofAgentsFixture.ts"
import { ended, logOf } from "./threadFixture.ts"
import { call, fresh } from "./toolFixture.ts"

const feedsServer = sharing(() => startServer({ idleMs: 200 }))

/** The step of a script that appends to a feed. */
export const append = (feedId: string, text: string, more: object = {}) =>
  call("feeds.append", { feedId, messages: [{ text }], ...more })

export const feedsStand = async () => {
  const server = await feedsServer()

  const makeFeed = async (client = server.alpha, fields: object = {}): Promise<string> => {
    const made = await client.post("/v1/feeds", { name: fresh("feed"), ...fields })
    assert.strictEqual(made.status, 201, made.text)
    return made.body.feed.id
  }
  const messagesOf = async (client: Client, feedId: string): Promise<ReadonlyArray<any>> =>
    (await client.get(`/v1/feeds/${feedId}/messages`)).body.messages
  const hopsOf = async (feedId: string) => {
    const { rows } = await server.query(sql<{ readonly hops: number }>`select hops from feed_messages
      where feed = ${toUuid(feedId)}::uuid order by seq`)
    return rows.map(({ hops }) => hops)
  }

  /** A message that so many turns lead to. */
  const sent = async (workspace: string, client: Client, agentId: string, text: string, hops: number) => {
    const threadId = freshId("thread")
    const inputId = freshId("input")
    const threads = await server.runtime.runPromise(Threads)
    await server.runtime.runPromise(
      threads.start(
        { workspace, principal: { type: "api_key", id: freshId("key") } },
        { agentId, threadId, inputId, content: [{ type: "text", text }], hops }
      )
    )
    return logOf(client, threadId, ended(1))
  }

  return { hopsOf, makeFeed, messagesOf, sent, server, ...makeFamilyUsers(server, "feeds") }
}
