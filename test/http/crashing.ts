/**
 * Crash points of what lives in rows as well as in the journal: two nodes on one database, and a scenario in a workspace
 * of its own. At one commit of the scenario the node that makes it dies as far as that actor goes: before the commit or
 * after it, nobody hears any more, and the other node takes over cold. The client goes on at the other node, each
 * request under the key that it had before.
 *
 * K1. Of an append only what went before reaches the journal: nothing of the actor runs on there.
 * K2. Whatever is asked of the node that has died hangs, and the client asks the other one.
 * K3. What hangs there is not dead, and may be carried out late. So a client changes only the version that it knows:
 *     its later changes are not undone by the earlier one, and that one refused has been carried out.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import { setTimeout as sleep } from "node:timers/promises"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type ActorRef, type Append, Journal, Superseded } from "../../src/journal/Journal.ts"
import { schemaLimits, Schemas } from "../../src/tools/Schemas.ts"
import { draws } from "../actors/crashes.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { fresh } from "./toolFixture.ts"

type Fault = "before" | "after"
interface Misfortune {
  readonly commit: number
  readonly fault: Fault
}

interface Watched {
  readonly misfortune: Misfortune | undefined
  commits: number
  /** The node that has died, as soon as it has. */
  readonly died: PromiseWithResolvers<number>
}

/** Commits of subscriptions and schedules, and those by which a thread takes what they hand over. */
const handingOver = ({ actor, birth, facts }: Append) =>
  actor.kind === "subscription" ||
  actor.kind === "schedule" ||
  (actor.kind === "thread" && (birth !== undefined || facts.some(({ type }) => type === "user_message")))

export class Crashes {
  readonly #watched = new Map<string, Watched>()
  readonly #counts: (append: Append) => boolean

  constructor(counts: (append: Append) => boolean) {
    this.#counts = counts
  }

  watch(workspace: string, misfortune: Misfortune | undefined): Watched {
    const watched: Watched = { misfortune, commits: 0, died: Promise.withResolvers() }
    this.#watched.set(workspace, watched)
    return watched
  }

  /** What stands before the journal of a node. */
  layer(node: number) {
    return Layer.effect(
      Journal,
      Effect.gen({ self: this }, function* () {
        const database = yield* Database
        const journal = yield* Journal
        const owner = (id: string) =>
          Effect.map(
            database.run("test.owner", (db) =>
              db.selectFrom("heads").select("owner").where("id", "=", toUuid(id)).executeTakeFirst()
            ),
            (row) => row?.owner ?? null
          )
        /** As when its owner's lease has lapsed: it is anybody's, and what is due of it is noted. */
        const orphan = ({ id }: ActorRef) =>
          database.run("test.orphan", (db) =>
            sql`with lost as (update heads set owner = null, epoch = epoch + 1 where id = ${toUuid(id)}::uuid
                returning id, runnable_at)
              insert into agenda (at, actors) select runnable_at, array[id] from lost where runnable_at is not null`.execute(
              db
            )
          )
        const die = Effect.fnUntraced(function* (actor: ActorRef, died: PromiseWithResolvers<number>) {
          yield* Effect.orDie(orphan(actor))
          died.resolve(node)
          // K1. The node forgets the actor only once the other one has it, or has nothing to do with it.
          for (let i = 0; i < 60 && (yield* Effect.orDie(owner(actor.id))) === null; i++) yield* Effect.sleep(50)
          return yield* new Superseded({ actor })
        })
        return Journal.of({
          ...journal,
          append: (append) =>
            Effect.suspend(() => {
              const watched = this.#watched.get(append.actor.workspace)
              if (watched === undefined || !this.#counts(append)) return journal.append(append)
              const { died, misfortune } = watched
              if (++watched.commits !== misfortune?.commit) return journal.append(append)
              const dead = die(append.actor, died)
              return misfortune.fault === "before" ? dead : Effect.andThen(journal.append(append), dead)
            })
        })
      })
    )
  }
}

/** Schemas that so many runs at once on a loaded machine do not find too slow. */
const patient = { ...schemaLimits, checkMs: 10_000, wallMs: 20_000, budget: { ms: 60_000, windowMs: 60_000 } }

/** Two nodes that crash as they are told, at the commits that count. */
export const startNodes = async (counts = handingOver) => {
  const crashes = new Crashes(counts)
  const options = { idleMs: 100, schemas: Schemas.layerOf(patient) }
  const first = await startServer({ ...options, journal: crashes.layer(0) })
  const second = await startServer({ ...options, beside: first, name: "second", journal: crashes.layer(1) })
  return {
    crashes,
    first,
    second,
    stop: async () => {
      await second.stop()
      await first.stop()
    }
  }
}
export type Nodes = Awaited<ReturnType<typeof startNodes>>

/** One run of a scenario, as its client sees it. */
export class Run {
  readonly server: TestServer
  readonly workspace: string
  readonly #clients: ReadonlyArray<Client>
  readonly #watched: Watched
  #at = 0

  constructor(server: TestServer, workspace: string, clients: ReadonlyArray<Client>, watched: Watched) {
    this.server = server
    this.workspace = workspace
    this.#clients = clients
    this.#watched = watched
    void watched.died.promise.then((node) => {
      this.#at = 1 - node
    })
  }

  get commits() {
    return this.#watched.commits
  }

  get client() {
    return this.#clients[this.#at] ?? assert.fail("no node")
  }

  /** K2. Asked until it is answered, under one key; `known` are answers that a repeated request may get. */
  async ask(method: string, path: string, body: unknown, known: ReadonlyArray<number> = [], headers: object = {}) {
    const key = { "idempotency-key": fresh("key"), ...headers }
    let isRepeated = false
    for (const end = performance.now() + 40_000; performance.now() < end; await sleep(50), isRepeated = true) {
      const { client } = this
      const lost = this.#watched.died.promise.then((node) => sleep(client === this.#clients[node] ? 300 : 10_000))
      const answer = await Promise.race([client.send(method, path, body, key), lost])
      if (answer === undefined || answer.status === 503) continue
      const isKnown = isRepeated && known.includes(answer.status)
      assert.isTrue(answer.status < 300 || isKnown, `${method} ${path}: ${answer.text}`)
      return answer.body
    }
    return assert.fail(`${method} ${path} was never answered`)
  }

  post(path: string, body: unknown = {}) {
    return this.ask("POST", path, body)
  }

  /** K3. */
  async patch(path: string, body: unknown) {
    const version = (await this.client.get(path)).headers.get("etag") ?? assert.fail(`${path} has no version`)
    return this.ask("PATCH", path, body, [412], { "if-match": version })
  }

  query<Row>(statement: ReturnType<typeof sql<Row>>) {
    return this.server.runtime.runPromise(
      this.server.database.run("test", async (db) => (await statement.execute(db)).rows)
    )
  }

  /** Until nothing in the workspace is about to happen to actors of that kind, or to any, nor waits to be delivered. */
  rest(kind = "%") {
    const space = toUuid(this.workspace)
    return until("rest", async () => {
      const [found] = await this.query(sql<{ readonly busy: number }>`select
        (select count(*) from heads where workspace = ${space}::uuid and kind like ${kind}
            and runnable_at < now() + interval '30 seconds')::int
          + (select count(*) from inbox where workspace = ${space}::uuid)::int as busy`)
      return found?.busy === 0
    })
  }
}

export interface Scenario {
  readonly name: string
  /** Does it, and asserts what holds in the end, whatever crashed. */
  readonly does: (run: Run) => Promise<void>
}

/** Of one scenario; a file's scenarios run at once too, five of them. */
const atOnce = 3

const runIn = async ({ crashes, first, second }: Nodes, { does, name }: Scenario, misfortune?: Misfortune) => {
  const workspace = await first.workspace(fresh(`crash ${name}`))
  const client = await first.client(workspace)
  const watched = crashes.watch(workspace, misfortune)
  const run = new Run(first, workspace, [client, second.at(client)], watched)
  try {
    await does(run)
  } catch (cause) {
    if (misfortune === undefined) throw cause
    const { commit, fault } = misfortune
    throw new Error(`${name}: crash ${fault} commit ${commit}: ${String(cause)}`, { cause })
  }
  return run.commits
}

/** Runs a scenario whole, and then with a crash at each of its commits, or at those that are drawn. */
export const withEachCrash = async (nodes: Nodes, scenario: Scenario) => {
  const commits = await runIn(nodes, scenario)
  assert.isAbove(commits, 0)
  // Of its own: which ones are drawn does not depend on the scenarios that run beside it.
  const { drawn, isDrawn } = draws()
  const all = Array.from({ length: commits }, (_, i) => i + 1).flatMap((commit) =>
    (["before", "after"] as const).map((fault): Misfortune => ({ commit, fault }))
  )
  const left = all.filter(() => isDrawn())
  console.log(`crash points of ${scenario.name}: ${left.length} of ${all.length} ${drawn}`)
  const failures: Array<unknown> = []
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await runIn(nodes, scenario, next).catch((cause: unknown) => failures.push(cause))
    })
  )
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("\n"))
}
