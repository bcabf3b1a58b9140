/**
 * The bus: best-effort news for watchers. Whoever needs certainty reads the log.
 *
 * B1. A hint is published only after the commit that it tells of, or, for a delta, about a response
 *     that is not recorded yet.
 * B2. Losing every hint loses nothing. Hints of one thread arrive in the order of their publication.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import type { ThreadStatus } from "../domain/thread.ts"

export interface About {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
}

export type Hint = About & (
  /** Events were committed. Texts are whole ThreadEvents, in order, `seq` that of the first. */
  | { readonly type: "events"; readonly events: ReadonlyArray<{ readonly seq: number; readonly turnId: string; readonly type: string; readonly text: string }> }
  /** A piece of a response that is being sampled: `eventId` is the id its assistant_message will have. */
  | { readonly type: "delta"; readonly turnId: string; readonly eventId: string; readonly index: number; readonly text: string }
  /** The streamed response will not be recorded. */
  | { readonly type: "discard"; readonly eventId: string }
  | { readonly type: "status"; readonly status: ThreadStatus; readonly lastSeq: number }
  /** A wait was opened, or is over. */
  | { readonly type: "wait"; readonly waitId: string; readonly state: "open" | "resolved" | "expired" | "cancelled"; readonly target: "person" | "client" | "url" | "agent" }
  /** The pending queue changed: `pending` is how many wait now. */
  | { readonly type: "queue"; readonly pending: number }
)

export interface Watch {
  readonly workspace: string
  readonly agentId?: string
  readonly threadId?: string
}

export class Bus extends Context.Service<Bus, {
  /** Returns at once; never fails. */
  readonly publish: (hint: Hint) => void
  /** Does anyone on this node's bus listen to that thread? Lets the publisher skip work for nobody. */
  readonly watched: (about: About) => boolean
  /** Live once the effect returns, until the scope closes. `listener` must not block or throw. */
  readonly subscribe: (watch: Watch, listener: (hint: Hint) => void) => Effect.Effect<void, never, Scope.Scope>
}>()("troupe/Bus") {
  /** One process: hints go straight from the publisher to the listeners. */
  static readonly layerMemory = Layer.effect(Bus, Effect.gen(function*() {
    const services = yield* Effect.context<never>()
    const topics = new Map<string, Set<(hint: Hint) => void>>()

    const deliver = (topic: string, hint: Hint) => {
      const listeners = topics.get(topic)
      if (listeners === undefined) return
      // A copy: whoever subscribes while a hint is on its way gets the next one.
      for (const listener of [...listeners]) {
        if (!listeners.has(listener)) continue
        try {
          listener(hint)
        } catch (defect) {
          Effect.runForkWith(services)(Effect.logError("a listener of the bus threw", defect))
        }
      }
    }

    // A listener may publish: its hint waits until everybody has got the current one (B2).
    const waiting: Array<Hint> = []
    let delivering = false
    const publish = (hint: Hint) => {
      waiting.push(hint)
      if (delivering) return
      delivering = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        for (const topic of topicsOf(next)) deliver(topic, next)
      }
      delivering = false
    }

    return Bus.of({
      publish,
      watched: (about) => topics.size > 0 && topicsOf(about).some((topic) => topics.has(topic)),
      subscribe: (watch, listener) => {
        const { agentId, threadId } = watch
        // Of a watch that names both, the thread is the topic; the agent still has to agree.
        const heard = agentId !== undefined && threadId !== undefined
          ? (hint: Hint) => hint.agentId === agentId && listener(hint)
          : (hint: Hint) => listener(hint)
        const topic = topicOf(watch.workspace, threadId ?? agentId)
        return Effect.acquireRelease(
          Effect.sync(() => {
            const listeners = topics.get(topic)
            if (listeners === undefined) topics.set(topic, new Set([heard]))
            else listeners.add(heard)
          }),
          () =>
            Effect.sync(() => {
              const listeners = topics.get(topic)
              if (listeners?.delete(heard) === true && listeners.size === 0) topics.delete(topic)
            })
        )
      }
    })
  }))
}

const topicOf = (workspace: string, id: string | undefined) => id === undefined ? workspace : `${workspace}/${id}`

/** Ids carry their noun, so an agent's topic is never a thread's. */
const topicsOf = ({ agentId, threadId, workspace }: About) =>
  [topicOf(workspace, threadId), topicOf(workspace, agentId), topicOf(workspace, undefined)]
