/** Threads of a test's world: how clients make them and send to them, and what the journal has of them then. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { recorded, type Recorded, violations } from "../invariants.ts"
import { logText } from "../logText.ts"
import type { Node } from "./Node.ts"
import { agentId, threadOf, type World } from "./World.ts"

export const ann: Principal = { type: "user", id: "ann" }

type Submit = Extract<ThreadRequest, { readonly type: "submit" }>

export const message = (
  text: string,
  more: { readonly mode?: SubmitMode; readonly inputId?: string; readonly identity?: string } = {}
): Submit["input"] => {
  const { identity, inputId = freshId("input"), mode = "queue" } = more
  const principal = identity === undefined ? ann : { ...ann, identity }
  return { inputId, mode, content: [{ type: "text", text }], principal }
}

export const submit = (...input: Parameters<typeof message>): Submit => ({ type: "submit", input: message(...input) })

export const birth = { parent: agentId, attributes: JSON.stringify({ createdBy: ann, updatedBy: ann }) }

/** Creates a thread on the node, in one of its shards. */
export const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(node.registry.freshId("thread"))
  yield* node.registry.create(ref, birth, { request: { type: "create" } })
  return ref
})

/** What the API does when no node takes an input (`post` of actors/thread/sending.ts). */
export const post = (node: Node, ref: ActorRef, request: Submit) =>
  node.journal.post({
    id: request.input.inputId,
    actor: ref,
    command: JSON.stringify({ ...request, acknowledged: true })
  })

export const bodyOf = ({ body }: Reply): Readonly<Record<string, unknown>> => ({
  ...(JSON.parse(body) as Readonly<Record<string, unknown>>)
})

export const rowOf = ({ store }: World, ref: ActorRef) => store.actors.get(keyOf(ref)) ?? assert.fail("no such actor")

export const logOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return log
}

/** The public log in one line. */
export const told = (log: ReadonlyArray<Recorded>) =>
  logText(log.filter((fact) => fact.public).map(({ event, turn, type }) => ({ event, type, turn: turn ?? "" })))

export const wordsOf = (world: World, ref: ActorRef) => told(logOf(world, ref))
