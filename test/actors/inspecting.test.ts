/** Looks at actors: what they read of a log, and that all of a look is of one moment (N1 to N3 of inspecting.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sql } from "kysely"
import type { QueryResultRow } from "pg"
import { Inspecting } from "../../actors/inspecting.ts"
import { makeMilestones } from "../../actors/milestones.ts"
import { Registries } from "../../actors/Registries.ts"
import { identityInspected } from "../../machines/identity/inspected.ts"
import { beginningAt, type LoggedStep } from "../../machines/steps.ts"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import { sharedServer } from "../setup/server.ts"
import { fresh } from "../http/toolFixture.ts"

const server = await sharedServer()

/** Another that looks, knows no milestone yet, and whose reads a test sees. */
const makeInspecting = (meet: { readonly before?: () => Promise<void>; readonly after?: (rows: number) => void }) => {
  const { database } = server
  const { after = () => {}, before = () => Promise.resolve() } = meet
  const seen = Database.of({
    ...database,
    read: <Row extends QueryResultRow>(statement: Parameters<Database["Service"]["read"]>[0]) =>
      Effect.andThen(
        Effect.promise(before),
        Effect.tap(database.read<Row>(statement), (rows) =>
          Effect.sync(() => after(statement.name === "inspect facts" ? rows.length : 0))
        )
      )
  })
  return server.runtime.runPromise(
    Effect.gen(function* () {
      const registries = yield* Registries
      const layers = Layer.mergeAll(Layer.succeed(Database, seen), Layer.succeed(Registries, registries))
      return yield* Inspecting.pipe(Effect.provide(Layer.provide(Layer.fresh(Inspecting.layer), layers)))
    })
  )
}

const find = async (inspecting: Inspecting["Service"], id: string) =>
  (await server.runtime.runPromise(inspecting.find(server.workspaces.alpha, id))) ?? assert.fail("no such actor")

describe("a long log of a kind whose folds begin at birth", () => {
  const facts = 4_000

  const makeIdentity = async () => {
    const identity = `${fresh("long")}@example.com`
    const { body } = await server.alpha.post("/v1/identities/disable", { identity })
    await server.alpha.post("/v1/identities/enable", { identity })
    const { actorId } = body.operation.result.body.identity
    await server.runtime.runPromise(
      server.database.run("test.lengthen", async (db) => {
        const actor = toUuid(actorId)
        await sql`insert into facts (actor, at, pos, n, event, cause)
          select f.actor, f.at + make_interval(secs => g), f.pos + 2 * g, f.n, f.event, f.cause from facts f,
            generate_series(1, ${facts / 2 - 1}::int) g where f.actor = ${actor}::uuid`.execute(db)
        await sql`update heads set pos = ${facts} where id = ${actor}::uuid`.execute(db)
      })
    )
    return actorId
  }

  it("is read about once by whoever pages through it, and each page is as if it were read alone", async () => {
    const actorId = await makeIdentity()
    let read = 0
    const inspecting = await makeInspecting({
      after: (rows) => {
        read += rows
      }
    })
    const found = await find(inspecting, actorId)
    const page = (looking: Inspecting["Service"], after: number, limit: number) =>
      server.runtime.runPromise(looking.steps(server.workspaces.alpha, found, { after, limit, order: "asc" }))
    const steps: Array<LoggedStep> = []
    for (let after = 0; after < facts; after = steps.at(-1)?.pos ?? facts)
      steps.push(...(await page(inspecting, after, 200)).slice(0, 200))
    assert.strictEqual(steps.length, facts)
    assert.isAtLeast(read, facts)
    assert.isAtMost(read, 3 * facts)
    const whole = await page(await makeInspecting({}), 0, facts)
    assert.deepStrictEqual(steps, [...whole])
    read = 0
    const at = (looking: Inspecting["Service"], pos: number) =>
      server.runtime.runPromise(looking.at(server.workspaces.alpha, found, pos))
    assert.deepStrictEqual(await at(inspecting, 3_901), await at(await makeInspecting({}), 3_901))
    assert.isAtMost(read, 1_000)
  })
})

describe("milestones of logs", () => {
  const place = (pos: number, held = 0) => ({
    ...beginningAt(identityInspected, { pos, seq: 0, before: undefined }),
    held
  })

  it("are found from behind, by actor, few of each and none that holds too much", () => {
    const milestones = makeMilestones()
    const [a, b] = [
      { workspace: "wsp_1", id: "idn_a" },
      { workspace: "wsp_1", id: "idn_b" }
    ]
    for (let pos = 1; pos <= 100; pos++) milestones.keep(a, place(pos))
    milestones.keep(b, place(50))
    milestones.keep(b, place(60, 17 * 1024 * 1024))
    assert.deepStrictEqual(
      [
        milestones.find(a, 1_000)?.pos,
        milestones.find(a, 90)?.pos,
        milestones.find(a, 84)?.pos,
        milestones.find(b, 70)?.pos
      ],
      [100, 90, undefined, 50]
    )
  })
})

describe("an actor as it is now", () => {
  it("is of one moment, whatever happens while it is read", async () => {
    const agentId = await makeAgent(server.alpha)
    let reads = 2
    for (let meanwhile = 2; meanwhile <= reads; meanwhile++) {
      const threadId = await makeThread(server.alpha, agentId)
      reads = 0
      const inspecting = await makeInspecting({
        before: async () => {
          if (++reads !== meanwhile) return
          await submit(server.alpha, threadId, "/wait 60s")
          await submit(server.alpha, threadId, "behind it")
        }
      })
      const found = await find(inspecting, threadId)
      const now = await server.runtime.runPromise(inspecting.now(server.workspaces.alpha, found))
      assert(now !== undefined)
      const { context, head, state } = now
      assert.deepStrictEqual(
        [state, context.pending],
        head.pos === 0 ? ["idle", []] : ["running.sampling", context.pending],
        `with a turn before read ${meanwhile}`
      )
      await server.alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    }
    assert.isAtLeast(reads, 2)
  })
})
