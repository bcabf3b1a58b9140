/** A profile and an agent to try threads with, and what tests ask of a thread again and again. */
import { assert } from "@effect/vitest"
import type { Client } from "../setup/server.ts"

export const text = (words: string) => [{ type: "text" as const, text: words }]

export const makeAgent = async (
  client: Client,
  models: ReadonlyArray<string> = ["troupe/scripted"],
  more: object = {}
): Promise<string> => {
  const profile = await client.post("/v1/profiles", { name: "Tester", models })
  assert.strictEqual(profile.status, 201, profile.text)
  const agent = await client.post("/v1/agents", { name: "Tester", profileId: profile.body.profile.id, ...more })
  assert.strictEqual(agent.status, 201, agent.text)
  return agent.body.agent.id
}

export const makeThread = async (client: Client, agentId: string, more: object = {}): Promise<string> => {
  const thread = await client.post("/v1/threads", { agentId, ...more })
  assert.strictEqual(thread.status, 201, thread.text)
  return thread.body.thread.id
}

export const submit = async (client: Client, threadId: string, words: string, more: object = {}) => {
  const answer = await client.post(`/v1/threads/${threadId}/messages`, { content: text(words), ...more })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body
}

export interface Event {
  readonly seq: number
  readonly eventId: string
  readonly threadId: string
  readonly turnId: string
  readonly type: string
  readonly [field: string]: unknown
}

const inShort = ({ failureCode, failureText, type }: Event) =>
  [type, failureCode, failureText].filter((part) => part !== undefined).join(" ")

/**
 * Waits, by long polls, until the log fits, and gives the whole of it. Where a page has a next one the thread is
 * further on: that is read first.
 */
export const logOf = async (
  client: Client,
  threadId: string,
  until: (log: ReadonlyArray<Event>) => boolean
): Promise<ReadonlyArray<Event>> => {
  const log: Array<Event> = []
  const deadline = Date.now() + 30_000
  for (let more = false; more || !until(log); ) {
    if (Date.now() > deadline) throw new Error(`the log did not get there: ${log.map(inShort).join(", ")}`)
    const page = await client.get(
      `/v1/threads/${threadId}/events?waitSeconds=${more ? 0 : 5}&afterSeq=${log.at(-1)?.seq ?? 0}`
    )
    assert.strictEqual(page.status, 200, page.text)
    log.push(...page.body.events)
    more = page.body.nextCursor !== undefined
  }
  return log
}

const terminal = /^turn_(completed|failed|cancelled)$/
export const ended = (turns: number) => (log: ReadonlyArray<Event>) =>
  log.filter(({ type }) => terminal.test(type)).length >= turns
