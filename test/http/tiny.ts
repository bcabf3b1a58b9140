/** A small interface of its own behind the real frame, gate and listener: for tests of what all groups share. */
import { Effect, Exit, Layer, Logger, Schema, Scope } from "effect"
import { HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { generateKey, type NewKey } from "../../src/keys/keyText.ts"
import type { Scope as KeyScope } from "../../src/keys/apiKey.ts"
import { UserContent } from "../../src/domain/content.ts"
import { idOf } from "../../src/domain/ids.ts"
import { DeliveryTokens } from "../../src/hooks/deliveryToken.ts"
import { DatabaseUnavailable } from "../../src/database/Database.ts"
import { Keys, type StoredKey } from "../../src/keys/Keys.ts"
import { jsonText } from "../../http/answers.ts"
import { access } from "../../http/access.ts"
import { decodeJson } from "../../http/Body.ts"
import { Caller } from "../../http/Caller.ts"
import { contract } from "../../http/contract.ts"
import { Credentials, makeCredentials } from "../../http/Credentials.ts"
import { Refused, refuses } from "../../http/errors.ts"
import * as Frame from "../../http/Frame.ts"
import * as Gate from "../../http/Gate.ts"
import { type Listener, listen, portOf } from "../../http/listen.ts"
import * as metrics from "../../http/metrics.ts"
import { CursorParam, limitOf, pageSize } from "../../http/pagination.ts"
import * as probes from "../../http/probes.ts"
import { RateLimit } from "../../http/RateLimit.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { Leases } from "../../http/Leases.ts"
import { Coverage } from "../../http/Coverage.ts"
import { type Ready, Readiness } from "../../http/Readiness.ts"
import * as reference from "../../http/reference.ts"
import { pagesOf, type ReferencePages } from "../../http/referencePages.ts"
import * as root from "../../http/root.ts"
import { flag, int64, wholeNumber } from "../../http/parameters.ts"
import { during } from "../setup/during.ts"

const Note = Schema.Struct({
  content: UserContent,
  mode: Schema.optionalKey(Schema.Literals(["queue", "steer"])),
  weight: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })))
}).annotate({ identifier: "Note" })

const Echo = Schema.Struct({ by: Schema.String, note: Schema.Unknown })

/** When a handler began and ended, in milliseconds. */
const Span = Schema.Struct({ from: Schema.Number, to: Schema.Number })

export const TinyApi = contract(
  HttpApi.make("tiny").add(
    HttpApiGroup.make("notes").add(
      HttpApiEndpoint.post("write", "/threads/:threadId/notes", {
        params: { threadId: idOf("thread") },
        payload: Note,
        success: Echo,
        error: refuses("turn_conflict", "queue_full")
      }).annotateMerge(access("run", { lease: true })),
      HttpApiEndpoint.post("writeRaw", "/threads/:threadId/raw", {
        params: { threadId: idOf("thread") },
        payload: Note,
        success: Echo.pipe(HttpApiSchema.status(201))
      }).annotateMerge(access("run")),
      HttpApiEndpoint.get("list", "/threads/:threadId/notes", {
        params: { threadId: idOf("thread") },
        query: {
          limit: limitOf("events"),
          cursor: CursorParam,
          afterSeq: Schema.optional(int64),
          deep: Schema.optional(flag)
        },
        success: Schema.Struct({ rows: Schema.Int, afterSeq: Schema.optionalKey(Schema.Number) })
      }).annotateMerge(access("read")),
      HttpApiEndpoint.post("poke", "/poke", { success: Echo }).annotateMerge(access("run")),
      HttpApiEndpoint.get("fail", "/fail", { success: Echo }).annotateMerge(access("read")),
      HttpApiEndpoint.get("outage", "/outage", { success: Echo }).annotateMerge(access("read")),
      HttpApiEndpoint.get("pause", "/pause", { query: { ms: wholeNumber(0, 60_000) }, success: Span }).annotateMerge(
        access("read")
      ),
      HttpApiEndpoint.get("large", "/large", {
        query: { kib: wholeNumber(0, 65_536) },
        success: Schema.String
      }).annotateMerge(access("read")),
      HttpApiEndpoint.get("refuse", "/refuse", { success: Echo, error: refuses("queue_full") }).annotateMerge(
        access("read")
      ),
      HttpApiEndpoint.get("administer", "/administer", { success: Echo }).annotateMerge(access("admin"))
    )
  )
)

const decodeNote = decodeJson(Note)

const Handlers = HttpApiBuilder.group(TinyApi, "notes", (handlers) =>
  handlers
    .handle(
      "write",
      Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Caller
        if (payload.weight === 5)
          return yield* new Refused({ error: "turn_conflict", message: "another turn is active" })
        return { by: caller.keyId, note: payload }
      })
    )
    .handleRaw(
      "writeRaw",
      Effect.fnUntraced(function* ({ request }) {
        const note = yield* decodeNote(request)
        const caller = yield* Caller
        return jsonText(JSON.stringify({ by: caller.keyId, note }), 201)
      })
    )
    .handle("list", ({ query }) =>
      Effect.succeed({
        rows: pageSize("events", query.limit),
        ...(query.afterSeq === undefined ? {} : { afterSeq: query.afterSeq })
      })
    )
    .handle("poke", () => Effect.succeed({ by: "me", note: null }))
    .handle("fail", () => Effect.die(new Error("the password is hunter2")))
    .handle("outage", () => Effect.fail(new DatabaseUnavailable({ operation: "test", cause: "gone" })))
    .handle(
      "pause",
      Effect.fnUntraced(function* ({ query }) {
        const from = performance.now()
        if (query.ms > 0) yield* Effect.sleep(query.ms)
        return { from, to: performance.now() }
      })
    )
    .handleRaw("large", ({ query }) => Effect.succeed(jsonText(JSON.stringify("x".repeat(query.kib * 1024)))))
    .handle("refuse", () => Effect.fail(new Refused({ error: "queue_full", message: "full", retryAfterSeconds: 7 })))
    .handle("administer", () => Effect.succeed({ by: "me", note: null }))
)

/** Keys in memory, and the switches that tests turn. */
export class World {
  readonly rows = new Map<string, StoredKey>()
  readonly uses: Array<{ readonly id: string; readonly at: number }> = []
  lookups = 0
  revision = 1
  now = 1_800_000_000_000
  down = false
  /** Log lines, as JSON. */
  readonly logs: Array<string> = []
  ready: Ready = { status: "ready", bus: "in-process" }

  issue(scopes: ReadonlyArray<KeyScope>, fields: Partial<StoredKey> = {}): NewKey {
    const made = generateKey()
    this.rows.set(made.publicPart, {
      workspace: "wsp_00000000000000000000000000",
      id: `key_${made.publicPart}`,
      hash: made.hash,
      scopes,
      principal: "api_key",
      identityDisabled: false,
      revoked: false,
      ...fields
    })
    return made
  }

  change(key: NewKey, fields: Partial<StoredKey>) {
    const row = this.rows.get(key.publicPart)!
    this.rows.set(key.publicPart, { ...row, ...fields })
  }

  readonly keys = Layer.sync(Keys, () =>
    Keys.of({
      findByPublic: (publicPart) =>
        Effect.suspend(() => {
          this.lookups++
          return this.down
            ? Effect.fail(new DatabaseUnavailable({ operation: "keys.find", cause: "down" }))
            : Effect.succeed(this.rows.get(publicPart))
        }),
      touch: (uses) =>
        Effect.sync(() => {
          this.uses.push(...uses)
        })
    })
  )
}

/** The server on a free port: its base address. */
export const serve = (
  world: World,
  rateLimit = RateLimit.off,
  listener: Pick<Listener, "observe" | "pace" | "room"> = {},
  pages: Effect.Effect<ReferencePages, unknown> = Effect.promise(() => pagesOf(TinyApi))
) => {
  const credentials = Layer.effect(
    Credentials,
    makeCredentials({ now: () => world.now, revision: () => world.revision })
  ).pipe(Layer.provide(world.keys))
  const readiness = Layer.sync(Readiness, () => Readiness.of({ check: Effect.sync(() => world.ready) }))
  const routes = Layer.mergeAll(
    HttpApiBuilder.layer(TinyApi).pipe(Layer.provide(Handlers.pipe(Layer.provide(Gate.layer)))),
    reference.layer(pages),
    probes.layer,
    root.layer,
    metrics.layer,
    Frame.layer(
      TinyApi,
      [...probes.probePaths, ...reference.referencePaths, ...root.rootPaths, metrics.metricsPath],
      undefined
    )
  ).pipe(
    Layer.provide([
      credentials,
      readiness,
      rateLimit,
      Quotas.layerMemory(),
      Leases.layerNone,
      Coverage.layerOfPaths,
      DeliveryTokens.layer([new Uint8Array(32)])
    ])
  )
  return Effect.gen(function* () {
    const context = yield* Layer.build(
      listen(routes, { host: "127.0.0.1", port: 0, drainSeconds: 0, ...listener }).pipe(
        Layer.provide(
          Logger.layer([
            Logger.map(Logger.formatJson, (line) => {
              world.logs.push(line)
            })
          ])
        )
      )
    )
    const port = yield* Effect.provideContext(Effect.flatMap(HttpServer.HttpServer, portOf), context)
    return `http://127.0.0.1:${port}`
  })
}

export const startServing = async (...how: Parameters<typeof serve>) => {
  const scope = await Effect.runPromise(Scope.make())
  const base = await Effect.runPromise(Scope.provide(serve(...how), scope))
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  return { base, stop, [Symbol.asyncDispose]: stop }
}

/** Its address for the tests of a file. */
export const serving = async (...how: Parameters<typeof serve>) => (await during(startServing(...how))).base
