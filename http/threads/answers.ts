/** An actor's answer, as this interface answers: its status, and the headers that go with it. */
import type { Reply } from "../../actors/Actor.ts"
import { etag } from "../etag.ts"
import type { KeptAnswer } from "../Idempotency.ts"

/** Where what was created can be read: by its id, the first of its kind in the text. */
const createdAt = (body: string, id: RegExp, path: string): Record<string, string> => {
  const found = id.exec(body)
  return found === null ? {} : { location: path + found[1]! }
}

// A quote inside a JSON string is escaped, so these match properties only.
const threadId = /"id":"(thr_[^"]+)"/
const inputId = /"id":"(inp_[^"]+)"/

const statuses = { created: 201, found: 200, done: 204 } as const satisfies Record<Reply["kind"], number>

/** What an actor answered, as this interface answers. */
const toAnswer = ({ body, kind, replayed }: Reply, headers: Record<string, string>): KeptAnswer => {
  if (replayed === true) headers["idempotency-replayed"] = "true"
  return { status: statuses[kind], body, headers }
}

export const answerOfThread = (reply: Reply) =>
  toAnswer(reply, {
    ...(reply.version === undefined ? {} : { etag: etag(reply.version) }),
    ...(reply.kind === "created" ? createdAt(reply.body, threadId, "/v1/threads/") : {})
  })

export const answerOfInput = (thread: string) => (reply: Reply) =>
  toAnswer(reply, reply.kind === "created" ? createdAt(reply.body, inputId, `/v1/threads/${thread}/queue/`) : {})

export const answerOfWait = (reply: Reply) => toAnswer(reply, {})
