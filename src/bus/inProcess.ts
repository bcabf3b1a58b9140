/**
 * The bus inside one process: from the publisher straight to the listeners. Also the half of a bus
 * between processes that is on this side of the wire.
 */
import { Cause, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { busState, record } from "../telemetry/metrics.ts"
import { Bus } from "./Bus.ts"
import { type Hint, NoAnswer, type Watch } from "./hints.ts"
import { topicsOf, topicWatched } from "./topics.ts"

interface Listener {
  readonly watch: Watch
  readonly hear: (hint: Hint) => void
}

export interface InProcess extends Omit<Bus["Service"], "state"> {
  /** Tells the listeners of one topic of a hint from elsewhere. */
  readonly dispatch: (topic: string, hint: Hint) => void
  /** Tells everybody who listens that they may have missed something. */
  readonly lookAll: () => void
  /** Whether this process answers for that incarnation. */
  readonly serves: (incarnation: string) => boolean
}

export interface InProcessOptions {
  /** A topic has got its first listener, or has lost its last. */
  readonly onListening?: (topic: string, watch: Watch) => void
  readonly onSilent?: (topic: string) => void
}

export const makeInProcess = ({ onListening, onSilent }: InProcessOptions = {}) =>
  Effect.gen(function* () {
    const services = yield* Effect.context<never>()
    const topics = new Map<string, Set<Listener>>()
    /**
     * By topic, how many of its listeners want deltas: asked for every piece of a response, whoever listens beside
     * them.
     */
    const wishes = new Map<string, number>()
    const wakes = new Set<(shard: number) => void>()
    const auths = new Set<() => void>()
    const listings = new Set<() => void>()
    const answers = new Map<
      string,
      { readonly answer: (message: string) => Effect.Effect<string>; readonly scope: Scope.Scope }
    >()

    /** A listener's bug is its own. */
    const guarded = (call: () => void) => {
      try {
        call()
      } catch (defect) {
        Effect.runForkWith(services)(Effect.logError("a listener of the bus threw", defect))
      }
    }

    const ring = (listeners: ReadonlySet<() => void>) => {
      for (const listener of [...listeners]) guarded(listener)
    }

    const tell = (topic: string, hint: Hint) => {
      const listeners = topics.get(topic)
      if (listeners === undefined) return
      // A copy: whoever subscribes while a hint is on its way gets the next one.
      for (const listener of [...listeners]) {
        const { agentId } = listener.watch
        if (!listeners.has(listener) || (agentId !== undefined && agentId !== hint.agentId)) continue
        guarded(() => listener.hear(hint))
      }
    }

    // A listener may publish: its hint waits until everybody has got the current one (B2).
    const waiting: Array<{ readonly topics: ReadonlyArray<string>; readonly hint: Hint }> = []
    let telling = false
    const dispatch = (topics: ReadonlyArray<string>, hint: Hint) => {
      waiting.push({ topics, hint })
      if (telling) return
      telling = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        for (const topic of next.topics) tell(topic, next.hint)
      }
      telling = false
    }

    const listen = <A>(listeners: Set<A>, listener: A) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => listeners.add(listener)),
          () => Effect.sync(() => listeners.delete(listener))
        )
      )

    const service: InProcess = {
      publish: (hint) => {
        if (topics.size > 0) dispatch(topicsOf(hint), hint)
      },
      dispatch: (topic, hint) => dispatch([topic], hint),
      watched: (about) => topics.size > 0 && topicsOf(about).some((topic) => topics.has(topic)),
      wantsDeltas: (about) => wishes.size > 0 && topicsOf(about).some((topic) => wishes.has(topic)),
      subscribe: (watch, hear) => {
        const topic = topicWatched(watch)
        const listener = { watch, hear }
        return Effect.acquireRelease(
          Effect.sync(() => {
            const listeners = topics.get(topic)
            if (watch.deltas === true) wishes.set(topic, (wishes.get(topic) ?? 0) + 1)
            if (listeners !== undefined) return void listeners.add(listener)
            topics.set(topic, new Set([listener]))
            onListening?.(topic, watch)
          }),
          () =>
            Effect.sync(() => {
              const listeners = topics.get(topic)
              if (listeners?.delete(listener) !== true) return
              const wished = (wishes.get(topic) ?? 0) - (watch.deltas === true ? 1 : 0)
              if (wished > 0) wishes.set(topic, wished)
              else wishes.delete(topic)
              if (listeners.size > 0) return
              topics.delete(topic)
              onSilent?.(topic)
            })
        )
      },
      lookAll: () => {
        for (const listeners of [...topics.values()]) {
          for (const { hear, watch } of [...listeners])
            guarded(() =>
              hear({
                workspace: watch.workspace,
                agentId: watch.agentId ?? "",
                threadId: watch.threadId ?? "",
                type: "look"
              })
            )
        }
      },
      serves: (incarnation) => answers.has(incarnation),
      request: Effect.fnUntraced(function* (incarnation, message, timeoutMs) {
        const served = answers.get(incarnation)
        if (served === undefined) return yield* new NoAnswer({ incarnation, reason: "nobody" })
        const { answer, scope } = served
        // Whoever asked may lose patience; the answer is found all the same, as between processes.
        const found = Deferred.makeUnsafe<string, NoAnswer>()
        yield* Effect.suspend(() => answer(message)).pipe(
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit)) return Deferred.succeed(found, exit.value)
            if (Cause.hasInterruptsOnly(exit.cause))
              return Deferred.fail(found, new NoAnswer({ incarnation, reason: "lost" }))
            return Effect.andThen(
              Effect.logError("a request over the bus was not answered", exit.cause),
              Deferred.fail(found, new NoAnswer({ incarnation, reason: "failed" }))
            )
          }),
          Effect.forkIn(scope)
        )
        return yield* Effect.timeoutOrElse(Deferred.await(found), {
          duration: timeoutMs,
          orElse: () => Effect.fail(new NoAnswer({ incarnation, reason: "timeout" }))
        })
      }),
      serve: Effect.fnUntraced(function* (incarnation, answer) {
        const scope = yield* Scope.make()
        const served = { answer, scope }
        answers.set(incarnation, served)
        yield* Effect.addFinalizer(() =>
          Effect.suspend(() => {
            if (answers.get(incarnation) === served) answers.delete(incarnation)
            return Scope.close(scope, Exit.void)
          })
        )
      }),
      wake: (shard) => {
        for (const listener of [...wakes]) guarded(() => listener(shard))
      },
      onWake: (listener) => listen(wakes, listener),
      authChanged: () => ring(auths),
      onAuthChanged: (listener) => listen(auths, listener),
      nodesChanged: () => ring(listings),
      onNodesChanged: (listener) => listen(listings, listener)
    }
    return service
  })

/** One process, or several nodes of a test in one. */
export const layerInProcess = Layer.effect(
  Bus,
  Effect.map(makeInProcess(), (bus) => {
    record(busState.with({ state: "in-process" }), 1)
    return Bus.of({ ...bus, state: () => "in-process" })
  })
)
