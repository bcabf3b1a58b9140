/** Agents with tools, roles and hooks to try turns with, and what tests ask of their logs. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Registries } from "../../actors/Registries.ts"
import { Threads } from "../../actors/thread/Threads.ts"
import { fromUuid, toUuid } from "../../src/domain/ids.ts"
import { type FactColumns, factColumns, storedFact } from "../../src/journal/storedFact.ts"
import { recorded, violations } from "../invariants.ts"
import type { Client, TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { ended, type Event, logOf, text } from "./threadFixture.ts"

let made = 0
/** A name that no other test has. */
export const fresh = (word = "n") => `${word}${made++}`

const created = async (client: Client, path: string, body: object) => {
  const answer = await client.post(path, body)
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body
}

/** A toolset under a namespace of its own. What its server says of its tools counts, unless a test says otherwise. */
export const addToolset = async (
  client: Client,
  fields: object
): Promise<{ readonly id: string; readonly namespace: string }> =>
  (await created(client, "/v1/toolsets", { namespace: fresh(), ...("url" in fields && { trusted: true }), ...fields }))
    .toolset

export const addRole = async (client: Client, fields: object): Promise<string> =>
  (await created(client, "/v1/roles", { name: fresh("role"), ...fields })).role.id

/** An agent with a profile of its own: toolsetIds, roleIds, hooks, limits and whatever else a profile holds. */
export const makeWorker = async (client: Client, profile: object = {}): Promise<string> => {
  const { id: profileId } = (
    await created(client, "/v1/profiles", { name: "Worker", models: ["troupe/scripted"], ...profile })
  ).profile
  return (await created(client, "/v1/agents", { name: "Worker", profileId })).agent.id
}

/** A thread whose first turn begins with these lines. */
export const begin = async (client: Client, agentId: string, ...lines: ReadonlyArray<string>): Promise<string> =>
  (await created(client, "/v1/threads", { agentId, message: { content: text(lines.join("\n")) } })).thread.id

/** A whole turn in a thread of its own. */
export const turnOf = async (client: Client, agentId: string, ...lines: ReadonlyArray<string>) =>
  await logOf(client, await begin(client, agentId, ...lines), ended(1))

export const call = (name: string, input: unknown = {}) => `/call ${name} ${JSON.stringify(input)}`

export const only = (log: ReadonlyArray<Event>, type: string) => log.filter((event) => event.type === type)

const own = (value: unknown, field: string): unknown =>
  typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, field)?.value : undefined

/** A log as a list of its types, each with what came of it: a failure's code, a hook's decision, a wait's outcome. */
export const told = (log: ReadonlyArray<Event>) =>
  log.map(({ failureCode, hook, type, waitResult }) =>
    [type, failureCode ?? own(hook, "decision") ?? own(waitResult, "outcome")]
      .filter((part) => part !== undefined)
      .join(": ")
  )

/** Results of calls in the order of their intents: output, or code of the failure. */
export const outcomes = (log: ReadonlyArray<Event>) => {
  const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event]))
  return only(log, "tool_intent").map(({ toolCallId }) => {
    const result = results.get(toolCallId)
    return result?.failureCode ?? result?.toolOutput
  })
}

/** Code and words of each result: both undefined where the call did not fail. */
export const failures = (log: ReadonlyArray<Event>) =>
  only(log, "tool_result").map(({ failureCode, failureText }) => [failureCode, failureText])

/** The open waits of a thread, as soon as there are so many. */
export const waitsOf = async (
  client: Client,
  threadId: string,
  count = 1
): Promise<ReadonlyArray<Readonly<Record<string, unknown>> & { readonly id: string }>> => {
  await logOf(client, threadId, (log) => only(log, "wait_created").length - only(log, "wait_resolved").length >= count)
  const detail = await client.get(`/v1/threads/${threadId}`)
  assert.lengthOf(detail.body.pendingWaits, count, detail.text)
  return detail.body.pendingWaits
}

/** Answers a wait; it must be taken. */
export const resolveWait = async (client: Client, threadId: string, waitId: string, answer: object) => {
  const told = await client.post(`/v1/threads/${threadId}/waits/${waitId}/resolve`, answer)
  assert.strictEqual(told.status, 200, told.text)
  return told.body
}

/** Waits until a thread of alpha has left memory: its next reader takes it from the journal. */
export const leavesMemory = (server: TestServer, threadId: string) =>
  eventually(
    () =>
      server.runtime.runPromise(
        Effect.gen(function* () {
          // As soon as it has rested: the sweep asks once a second.
          yield* (yield* Registries).of("thread")?.passivate ?? Effect.die("no threads")
          return (yield* Threads).lastSeq(server.workspaces.alpha, threadId) === undefined
        })
      ),
    `${threadId} leaves memory`
  )

/**
 * Takes the server's lease away, as if its beats had stayed away: it drops its actors, joins again, and takes up what
 * was lost. For a server of a file's own with none beside it: all nodes of its database lose their leases.
 */
export const loseLease = async (server: TestServer) => {
  const nodes = () =>
    server.runtime.runPromise(
      server.database.run("test.nodes", (db) => db.selectFrom("nodes").select("incarnation").execute())
    )
  const [before] = await nodes()
  await server.runtime.runPromise(
    server.database.run("test.lapse", (db) =>
      db
        .updateTable("nodes")
        .set({ deadline: new Date(0) })
        .execute()
    )
  )
  await eventually(
    async () => (await nodes()).some(({ incarnation }) => incarnation !== before?.incarnation),
    "the node joins again"
  )
}

/** After `loseLease`: every thread of these agents is held anew. */
export const takenOver = async (server: TestServer, agentIds: ReadonlyArray<string>) => {
  const epochs = () =>
    server.runtime.runPromise(
      server.database.run("test.claims", (db) =>
        db.selectFrom("heads").select("epoch").where("parent", "in", agentIds.map(toUuid)).execute()
      )
    )
  await eventually(async () => (await epochs()).every(({ epoch }) => epoch > 1), "their threads are taken over")
}

/** All facts of a thread, the private ones too. */
export const factsOf = (server: TestServer, threadId: string) =>
  server.runtime.runPromise(
    Effect.map(
      server.database.read<FactColumns>({
        name: "test.facts",
        text: `select ${factColumns} from facts f where f.actor = $1 order by f.pos`,
        values: [toUuid(threadId)]
      }),
      (rows) => rows.map(storedFact)
    )
  )

/**
 * The journals of all threads of the server's database, those of other files too, keep what every journal must
 * (test/invariants.ts).
 */
export const assertSound = async (server: TestServer) => {
  const threads = await server.runtime.runPromise(
    server.database.run("test.threads", (db) =>
      db.selectFrom("heads").select("id").where("kind", "=", "thread").execute()
    )
  )
  for (const { id } of threads) {
    const threadId = fromUuid("thread", id)
    assert.deepStrictEqual(violations((await factsOf(server, threadId)).map(recorded)), [], threadId)
  }
}

/** What blocks until it is let go, and counts who is in it. */
export class Gate {
  inside = 0
  most = 0
  private waiting: Array<() => void> = []

  pass(signal?: AbortSignal) {
    this.most = Math.max(this.most, ++this.inside)
    return new Promise<string>((resolve, reject) => {
      const through = () => {
        this.inside--
        resolve("through")
      }
      this.waiting.push(through)
      signal?.addEventListener("abort", () => {
        const place = this.waiting.indexOf(through)
        if (place < 0) return
        this.waiting.splice(place, 1)
        this.inside--
        reject(new Error("gone"))
      })
    })
  }

  /** Lets the one through that has waited longest. */
  letOne() {
    this.waiting.shift()?.()
  }

  letAll() {
    for (const go of this.waiting.splice(0)) go()
  }
}
