/**
 * The journal in memory: the same promises without a database, for tests and for trying things out.
 * Nothing outlives the process. Several owners may share one MemoryStore; each builds its own layer.
 */
import { Clock, Effect, Layer } from "effect"
import { body } from "../domain/ids.ts"
import { admissionOf } from "../domain/once.ts"
import {
  type ActorRef,
  type Claimed,
  Inconsistent,
  Journal,
  JournalUnavailable,
  NoSuchActor,
  NotOwned,
  OwnedElsewhere,
  type StoredInput,
  Superseded
} from "./Journal.ts"
import { fateOf } from "./doubts.ts"
import { Lease } from "./Lease.ts"
import { keepLease, type LeaseOptions } from "./leaseKeeper.ts"
import { type MemoryActor, type MemoryStore, keyOf, type Read, Violation } from "./MemoryStore.ts"
import { hasShard, shardOf } from "./shard.ts"
import { logOf } from "./wholeLog.ts"

const byMoment = (a: MemoryActor, b: MemoryActor) => (a.head.runnableAt ?? 0) - (b.head.runnableAt ?? 0)

export const layerMemory = (store: MemoryStore) =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const lease = yield* Lease
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()
      /** The incarnation that this layer began with: a process that crashed stays dead under any other name. */
      const process = lease.incarnation()
      const dead = () => store.crashed.has(process)

      /** One step of the store, after a turn of the scheduler, as a database would answer: not at once. */
      const step = <A, E>(work: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.suspend(() => (dead() ? Effect.never : work()))
        )

      /** The same of what may get no answer: it was not carried out, or was. */
      const ask = <A, E = never>(
        read: Read,
        work: () => Effect.Effect<A, E>
      ): Effect.Effect<A, E | JournalUnavailable> =>
        step((): Effect.Effect<A, E | JournalUnavailable> => {
          const fault = store.faultOf(read, lease.incarnation())
          if (fault === undefined) return work()
          const unanswered = Effect.fail(new JournalUnavailable({ cause: read }))
          return fault === "unasked" ? unanswered : Effect.andThen(Effect.exit(work()), unanswered)
        })

      const free = (actor: MemoryActor, me: string) =>
        actor.owner === null || actor.owner === me || !store.alive(actor.owner, now())

      const crash = () => {
        store.crashed.add(process)
        store.onCrash(process)
        return Effect.never
      }

      return Journal.of({
        know: () => {},
        append: (append) => {
          const owner = lease.incarnation()
          const commit = () => {
            try {
              return store.commit(append, owner, now())
                ? Effect.void
                : Effect.fail(new Superseded({ actor: append.actor }))
            } catch (cause) {
              if (cause instanceof Violation) return Effect.die(new Inconsistent({ actor: append.actor, cause }))
              throw cause
            }
          }
          const fate = () => {
            const found = store.actors.get(keyOf(append.actor))
            return fateOf(
              { ...append, owner },
              found && { owner: found.owner, epoch: found.epoch, rev: found.head.rev }
            )
          }
          /** J4: what the head shows done is done; what it does not is tried again. */
          const settle = () =>
            fate() === "done"
              ? Effect.void
              : Effect.catch(commit(), (refusal) =>
                  Effect.fail(fate() === "unknown" ? new JournalUnavailable({ cause: "in doubt" }) : refusal)
                )
          return step((): Effect.Effect<void, Superseded | JournalUnavailable> => {
            const fault = store.fault(++store.commits, append, owner)
            switch (fault) {
              case undefined:
                return commit()
              case "crash before":
                return crash()
              case "crash after":
                return Effect.andThen(Effect.exit(commit()), Effect.suspend(crash))
              case "lost before":
                return step(settle)
              case "lost after":
                return Effect.andThen(Effect.exit(commit()), step(settle))
              case "unavailable":
                return Effect.fail(new JournalUnavailable({ cause: fault }))
              case "late":
              case "too late":
                store.delay({ append, owner, fault })
                return Effect.fail(new JournalUnavailable({ cause: fault }))
            }
          })
        },
        claim: (ref, onlyMine = false) => {
          const me = lease.incarnation()
          const isOf = (append: { readonly actor: ActorRef }) => keyOf(append.actor) === keyOf(ref)
          const claim = (): Effect.Effect<Claimed, NoSuchActor | NotOwned | OwnedElsewhere> => {
            const actor = store.actors.get(keyOf(ref))
            if (actor === undefined) return Effect.fail(new NoSuchActor({ actor: ref }))
            if (onlyMine && actor.owner === null) return Effect.fail(new NotOwned({ actor: ref }))
            if (!free(actor, me) || (onlyMine && actor.owner !== me))
              return Effect.fail(new OwnedElsewhere({ actor: ref, node: actor.owner ?? me }))
            const mine = actor.owner === me
            if (!mine && actor.owner !== null && actor.head.since !== null) actor.fruitless++
            actor.epoch++
            actor.owner = me
            const { attributes, createdAt, epoch, fruitless, head, parent } = actor
            return Effect.succeed({
              actor: ref,
              parent,
              attributes,
              createdAt,
              epoch,
              head,
              takeovers: fruitless,
              mine
            })
          }
          return ask("claim", () => {
            store.arrive(now(), ({ append, fault }) => fault === "late" && isOf(append))
            const claimed = claim()
            store.arrive(now(), ({ append }) => isOf(append))
            return claimed
          })
        },
        load: (claimed) =>
          ask("load", () => {
            const {
              head: { pos: last, since }
            } = claimed
            const actor = store.actors.get(keyOf(claimed.actor))
            return Effect.succeed({
              ...claimed,
              facts: since === null ? [] : (actor?.facts ?? []).filter(({ pos }) => pos >= since && pos <= last),
              inputs: [...(actor?.inputs.values() ?? [])]
                .filter((input) => input.state === "pending")
                .sort((a, b) => a.ord - b.ord)
            })
          }),
        release: (actors) => {
          const me = lease.incarnation()
          return ask("release", () => {
            for (const { actor, epoch } of actors) {
              const found = store.actors.get(keyOf(actor))
              if (found?.owner === me && found.epoch === epoch) found.owner = null
            }
            return Effect.void
          })
        },
        quarantine: (ref, epoch) => {
          const me = lease.incarnation()
          return ask("quarantine", () => {
            const found = store.actors.get(keyOf(ref))
            if (found?.owner === me && found.epoch === epoch) {
              const { head } = found
              found.head = {
                ...head,
                status: "failed",
                runnableAt: null,
                rev: head.rev + 1,
                updatedAt: Math.max(head.updatedAt, now())
              }
            }
            return Effect.void
          })
        },
        due: (limit, shards, aheadMs = 0) =>
          ask("due", () =>
            Effect.succeed(
              [...store.actors.values()]
                .filter(
                  (actor) =>
                    actor.head.runnableAt !== null &&
                    actor.head.runnableAt <= now() + aheadMs &&
                    free(actor, "") &&
                    hasShard(shards, shardOf(actor.ref.id))
                )
                .sort(byMoment)
                .slice(0, limit)
                .map((actor): ActorRef => actor.ref)
            )
          ),
        tend: () => ask("tend", () => Effect.void),
        log: (ref, afterPos, types) =>
          ask("log", () =>
            Effect.succeed(
              logOf(
                (store.actors.get(keyOf(ref))?.facts ?? []).filter(
                  ({ pos, type }) => pos > afterPos && types.includes(type)
                )
              )
            )
          ),
        key: (workspace, scope) => ask("key", () => Effect.succeed(store.keyOf(workspace, scope, now()))),
        keep: (workspace, row) =>
          ask("keep", () => {
            if (store.keyOf(workspace, row.scope, now()) !== undefined) return Effect.succeed(false)
            store.keys.set(workspace + row.scope, { ...row, at: now() })
            return Effect.succeed(true)
          }),
        attributes: (ref) =>
          ask("attributes", () => {
            const actor = store.actors.get(keyOf(ref))
            return Effect.succeed(actor && { text: actor.attributes, version: 1 })
          }),
        input: (ref, inputId) =>
          ask("input", (): Effect.Effect<StoredInput | undefined> => {
            const actor = store.actors.get(keyOf(ref))
            const once = admissionOf(inputId)
            for (const fact of actor?.facts ?? [])
              if (fact.once === once && fact.seq !== null)
                return Effect.succeed({ state: "admitted", fact: { ...fact, seq: fact.seq } })
            const row = actor?.inputs.get(inputId)
            return Effect.succeed(row && { state: row.state, row })
          }),
        post: (row, kept) =>
          ask("post", () => {
            const { workspace } = row.actor
            if (kept !== undefined) {
              if (store.keyOf(workspace, kept.scope, now()) !== undefined) return Effect.succeed(false)
              store.keys.set(workspace + kept.scope, { ...kept, at: now() })
            }
            const place = workspace + row.id
            if (!store.inbox.has(place)) store.inbox.set(place, row)
            return Effect.succeed(true)
          }),
        inbox: ({ actors, after, except, rows, shards }) =>
          ask("inbox", () => {
            const me = lease.incarnation()
            const readable = [...store.inbox.values()].filter((row) => {
              const actor = store.actors.get(keyOf(row.actor))
              return (
                actor !== undefined &&
                (actor.owner === me || (free(actor, me) && hasShard(shards, shardOf(actor.ref.id)))) &&
                !except.includes(row.id)
              )
            })
            const lines = [...Map.groupBy(readable, (row) => body(row.actor.id))].filter(
              ([id]) => after === undefined || id > body(after)
            )
            return Effect.succeed(
              lines
                .sort(([a], [b]) => (a < b ? -1 : 1))
                .slice(0, actors)
                .flatMap(([, line]) => line.slice(0, rows))
            )
          }),
        inboxRows: (ref, wanted) => ask("posted", () => Effect.succeed(store.inboxRows(ref, wanted)))
      })
    })
  )

/** A lease in the store's own list of nodes. */
export const layerMemoryLease = (store: MemoryStore, options: LeaseOptions) =>
  Layer.effect(
    Lease,
    Effect.flatMap(Clock.Clock, (clock) => {
      const now = () => clock.currentTimeMillisUnsafe()
      const pulse = (incarnation: string, alive: boolean) => ({
        alive,
        now: now(),
        authRevision: store.authRevision,
        others: [...store.nodes]
          .filter(([other]) => other !== incarnation && store.alive(other, now()))
          .map(([other, { deadline, name, status }]) => ({ ...status, incarnation: other, name, deadline }))
      })
      return keepLease(options, {
        monotonic: now,
        now: () => Promise.resolve(now()),
        join: (incarnation, name, deadline, status) => {
          store.nodes.set(incarnation, { name, deadline, status })
          return Promise.resolve(pulse(incarnation, true))
        },
        beat: (incarnation, deadline, status) => {
          const node = store.nodes.get(incarnation)
          const alive = store.alive(incarnation, now())
          if (alive && node) Object.assign(node, { deadline: Math.max(node.deadline, deadline), status })
          return Promise.resolve(pulse(incarnation, alive))
        },
        leave: (incarnation) => {
          store.nodes.delete(incarnation)
          return Promise.resolve()
        }
      })
    })
  )
