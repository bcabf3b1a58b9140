/** The same request sent twice takes effect once and gets the same answer. Over a real database. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { generateKey } from "../../src/keys/keyText.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type IdempotencyRow, Journal } from "../../src/journal/Journal.ts"
import { Database } from "../../src/database/Database.ts"
import { freshId } from "../../src/seed.ts"
import type { Caller } from "../../http/Caller.ts"
import { Refused } from "../../http/errors.ts"
import { type KeptAnswer, Idempotency, type Key, KeyTaken } from "../../http/Idempotency.ts"
import { keepAnswer } from "../../src/idempotency/rows.ts"
import { withdrawable } from "../../src/database/withdrawable.ts"
import { freshDatabase } from "../setup/database.ts"

const fresh = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => freshDatabase()),
      (database) => Effect.promise(database.drop)
    ),
    ({ url }) => Database.layer({ url: Redacted.make(url) })
  )
)

const nothing = Effect.die(new Error("not asked for here"))

/** Only the lookup is asked of the journal: the rows are written by `keepAnswer`. */
const journal = Layer.effect(
  Journal,
  Effect.map(Database, (database) =>
    Journal.of({
      know: () => {},
      append: () => nothing,
      claim: () => nothing,
      load: () => nothing,
      quarantine: () => nothing,
      release: () => nothing,
      due: () => nothing,
      log: () => nothing,
      post: () => nothing,
      inbox: () => nothing,
      attributes: () => nothing,
      input: () => nothing,
      inboxRows: () => nothing,
      tend: () => nothing,
      keep: () => nothing,
      key: (workspace, scope) =>
        database
          .read<{ scope: string; fingerprint: string; status: number; body: string }>({
            name: "test.key",
            text: "select scope, fingerprint, status, body from idempotency where workspace = $1 and scope = $2 and created_at > now() - interval '24 hours'",
            values: [toUuid(workspace), scope]
          })
          .pipe(
            Effect.map((rows): IdempotencyRow | undefined => rows[0]),
            Effect.orDie
          )
    })
  )
)

/** Two nodes over one database. */
const world = Effect.gen(function* () {
  const ground = yield* Layer.build(journal.pipe(Layer.provideMerge(fresh)))
  const database = Context.get(ground, Database)
  const node = Effect.provideContext(Layer.build(Layer.fresh(Idempotency.layer)), ground)
  const nodes = [yield* node, yield* node] as const
  const workspace = freshId("workspace")
  const caller = (keyId: string): Caller["Service"] => ({
    workspace,
    principal: { type: "api_key", id: keyId },
    scheme: "APIKeyBearer",
    scopes: new Set(["run"]),
    keyId
  })
  const effects: Array<string> = []

  /** Writes its effect and keeps its answer in one transaction. */
  const work =
    (name: string, status = 201) =>
    (key: Key | undefined): Effect.Effect<KeptAnswer, KeyTaken> => {
      const answer = { status, body: JSON.stringify({ made: name }) }
      return withdrawable(database)("test", async (tx) => {
        if (key !== undefined && !(await keepAnswer(tx, workspace, { ...key, ...answer })))
          return Result.fail(new KeyTaken({ scope: key.scope }))
        effects.push(name)
        return Result.succeed(answer)
      }).pipe(Effect.catchTag("DatabaseUnavailable", Effect.die))
    }

  const send = <E>(
    run: (key: Key | undefined) => Effect.Effect<KeptAnswer, E | KeyTaken>,
    options: {
      readonly key?: string
      readonly body?: string
      readonly path?: string
      readonly node?: 0 | 1
      readonly keyId?: string
    } = {}
  ) => {
    const headers = { ...(options.key !== undefined && { "idempotency-key": options.key }) }
    const request: HttpServerRequest.HttpServerRequest = HttpServerRequest.fromWeb(
      new Request(`http://x${options.path ?? "/v1/threads"}`, { method: "POST", body: options.body ?? "{}" })
    )
    // Headers are read where Node has them.
    Object.defineProperty(request.source, "headers", { value: headers })
    return Effect.flatMap(Idempotency, (idempotency) =>
      idempotency.once(request, caller(options.keyId ?? "key_a"), run)
    ).pipe(
      Effect.provideContext(nodes[options.node ?? 0]),
      Effect.map((response) => ({
        status: response.status,
        replayed: response.headers["idempotency-replayed"],
        body: textOf(response)
      }))
    )
  }
  return { database, effects, send, work, workspace }
})

const textOf = (response: HttpServerResponse.HttpServerResponse) =>
  response.body._tag === "Uint8Array"
    ? new TextDecoder().decode(response.body.body)
    : response.body._tag === "Raw"
      ? String(response.body.body)
      : ""

describe("a POST with an Idempotency-Key", () => {
  it.live("that is repeated gets the first answer, on any node, and takes effect once", () =>
    Effect.gen(function* () {
      const { effects, send, work } = yield* world
      const first = yield* send(work("a"), { key: "k" })
      assert.deepStrictEqual(first, { status: 201, replayed: undefined, body: '{"made":"a"}' })
      for (const node of [0, 1] as const) {
        assert.deepStrictEqual(yield* send(work("b"), { key: "k", node }), {
          status: 201,
          replayed: "true",
          body: '{"made":"a"}'
        })
      }
      assert.deepStrictEqual(effects, ["a"])
    }).pipe(Effect.scoped)
  )

  it.live("with another body is refused", () =>
    Effect.gen(function* () {
      const { send, work } = yield* world
      yield* send(work("a"), { key: "k", body: '{"a":1}' })
      const refused = yield* Effect.flip(send(work("b"), { key: "k", body: '{"a":2}' }))
      assert.instanceOf(refused, Refused)
      assert.strictEqual(refused.error, "idempotency_key_reused")
    }).pipe(Effect.scoped)
  )

  it.live("means another request on another path, or with another credential", () =>
    Effect.gen(function* () {
      const { effects, send, work } = yield* world
      yield* send(work("a"), { key: "k", path: "/v1/threads/x/messages" })
      yield* send(work("b"), { key: "k", path: "/v1/threads/y/messages" })
      yield* send(work("c"), { key: "k", path: "/v1/threads/y/messages", keyId: "key_b" })
      assert.deepStrictEqual(effects, ["a", "b", "c"])
    }).pipe(Effect.scoped)
  )

  it.live("that is refused may be tried again", () =>
    Effect.gen(function* () {
      const { effects, send, work } = yield* world
      const no = () => Effect.fail(new Refused({ error: "queue_full", message: "full", retryAfterSeconds: 1 }))
      assert.deepInclude(yield* Effect.flip(send(no, { key: "k" })), { error: "queue_full" })
      assert.strictEqual((yield* send(work("a"), { key: "k" })).replayed, undefined)
      assert.deepStrictEqual(effects, ["a"])
    }).pipe(Effect.scoped)
  )

  it.live("that comes while the first runs waits for it and gets its answer", () =>
    Effect.gen(function* () {
      const { effects, send, work } = yield* world
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const slow = (key: Key | undefined) =>
        Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(gate)), Effect.andThen(work("a")(key)))
      const first = yield* Effect.forkChild(send(slow, { key: "k" }))
      yield* Deferred.await(started)
      const second = yield* Effect.forkChild(send(work("b"), { key: "k" }))
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(first)).replayed, undefined)
      assert.deepStrictEqual(yield* Fiber.join(second), { status: 201, replayed: "true", body: '{"made":"a"}' })
      assert.deepStrictEqual(effects, ["a"])
    }).pipe(Effect.scoped)
  )

  it.live("is 409 when the first takes longer than two seconds", () =>
    Effect.gen(function* () {
      const { send, work } = yield* world
      const started = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        send(() => Effect.andThen(Deferred.succeed(started, undefined), Effect.never), { key: "k" })
      )
      yield* Deferred.await(started)
      const refused = yield* Effect.flip(send(work("b"), { key: "k" }))
      assert.instanceOf(refused, Refused)
      assert.strictEqual(refused.error, "idempotency_in_progress")
      // A client that went away leaves the key free.
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* send(work("c"), { key: "k" })).status, 201)
    }).pipe(Effect.scoped)
  )

  it.live("that meets itself on two nodes takes effect on one, and both get its answer", () =>
    Effect.gen(function* () {
      const { database, effects, send, work, workspace } = yield* world
      const looked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      // The first node has looked the key up and found nothing, when the second stores its answer.
      const late = (key: Key | undefined) =>
        Deferred.succeed(looked, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.andThen(work("late")(key)))
      const first = yield* Effect.forkChild(send(late, { key: "k" }))
      yield* Deferred.await(looked)
      yield* send(work("soon"), { key: "k", node: 1 })
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(first), { status: 201, replayed: "true", body: '{"made":"soon"}' })
      assert.deepStrictEqual(effects, ["soon"])
      const rows = yield* database.run("count", (db) =>
        db.selectFrom("idempotency").select("scope").where("workspace", "=", toUuid(workspace)).execute()
      )
      assert.lengthOf(rows, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is forgotten after a day", () =>
    Effect.gen(function* () {
      const { database, effects, send, work } = yield* world
      yield* send(work("a"), { key: "k" })
      yield* database.run("age", (db) =>
        db
          .updateTable("idempotency")
          .set({ created_at: new Date(Date.now() - 25 * 3600_000) })
          .execute()
      )
      assert.strictEqual((yield* send(work("b"), { key: "k" })).replayed, undefined)
      assert.deepStrictEqual(yield* send(work("c"), { key: "k" }), {
        status: 201,
        replayed: "true",
        body: '{"made":"b"}'
      })
      assert.deepStrictEqual(effects, ["a", "b"])
    }).pipe(Effect.scoped)
  )

  it.live("has 1 to 255 characters", () =>
    Effect.gen(function* () {
      const { effects, send, work } = yield* world
      for (const key of ["", "x".repeat(256)]) {
        const refused = yield* Effect.flip(send(work("a"), { key }))
        assert.instanceOf(refused, Refused)
        assert.strictEqual(refused.code, "invalid_header")
      }
      yield* send(work("a"), { key: "x".repeat(255) })
      yield* send(work("b"))
      yield* send(work("c"))
      assert.deepStrictEqual(effects, ["a", "b", "c"])
    }).pipe(Effect.scoped)
  )

  it.live("is not stored, only its hash", () =>
    Effect.gen(function* () {
      const { database, send, work } = yield* world
      const secret = generateKey().key
      yield* send(work("a"), { key: secret, body: `{"secret":"${secret}"}` })
      const rows = yield* database.run("all", (db) => db.selectFrom("idempotency").selectAll().execute())
      assert.notInclude(JSON.stringify(rows), secret)
    }).pipe(Effect.scoped)
  )
})
