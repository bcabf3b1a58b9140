/**
 * The yardstick: the least that a durable turn can cost on this stack. It is no part of the product.
 *
 * Two compare-and-set appends a turn through one micro-batching writer (user_message; assistant_message
 * with turn_completed), one state machine, two HttpApi endpoints, one read of the log. No
 * authentication, idempotency, claims, limits, schemas of events, metrics or logs. The real server is
 * measured against it in the same run, so that the machine and its neighbours cancel out.
 *
 *   node bench/yardstick/server.ts postgres://… 18090
 */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { randomUUID } from "node:crypto"
import http from "node:http"
import pg from "pg"
import { createActor, setup } from "xstate"

const [url = "", port = "18090"] = process.argv.slice(2)
const largestBatch = 256

const open = async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
const reader = await open()
const writer = await open()

await reader.query(`
  create table if not exists yardstick_threads (id uuid primary key, last_seq bigint not null) with (fillfactor = 70);
  create table if not exists yardstick_events (
    thread_id uuid not null, seq bigint not null, event_id uuid not null, type text not null,
    payload jsonb not null, occurred_at timestamptz not null, primary key (thread_id, seq)
  )`)

const appendAll = `
  with heads as (select * from unnest($1::uuid[], $2::bigint[], $3::int[]) as h(id, expected, n)),
  born as (insert into yardstick_threads(id, last_seq) select id, n from heads where expected = 0 on conflict do nothing returning id),
  moved as (update yardstick_threads t set last_seq = t.last_seq + h.n from heads h where h.expected > 0 and t.id = h.id and t.last_seq = h.expected returning t.id),
  won as (select id from born union all select id from moved),
  added as (insert into yardstick_events(thread_id, seq, event_id, type, payload, occurred_at)
    select e.thread_id, e.seq, e.event_id, e.type, e.payload::jsonb, e.at
      from unnest($4::uuid[], $5::bigint[], $6::uuid[], $7::text[], $8::text[], $9::timestamptz[]) as e(thread_id, seq, event_id, type, payload, at)
     where e.thread_id in (select id from won))
  select id from won`

interface Event {
  readonly id: string
  readonly type: string
  readonly payload: unknown
}
interface Waiting {
  readonly thread: string
  readonly expected: number
  readonly events: ReadonlyArray<Event>
  readonly resolve: (won: boolean) => void
  readonly reject: (cause: unknown) => void
}

const queue: Array<Waiting> = []
let busy = false
let scheduled = false

/** Sends what has gathered while the last statement was in flight. */
const pump = () => {
  scheduled = false
  if (busy || queue.length === 0) return
  busy = true
  const batch = queue.splice(0, largestBatch)
  const at = new Date().toISOString()
  const events = batch.flatMap((one) =>
    one.events.map((event, i) => ({ thread: one.thread, seq: one.expected + i + 1, event }))
  )
  writer
    .query<{ id: string }>({
      name: "append",
      text: appendAll,
      values: [
        batch.map((one) => one.thread),
        batch.map((one) => one.expected),
        batch.map((one) => one.events.length),
        events.map((e) => e.thread),
        events.map((e) => e.seq),
        events.map((e) => e.event.id),
        events.map((e) => e.event.type),
        events.map((e) => JSON.stringify(e.event.payload)),
        events.map(() => at)
      ]
    })
    .then(
      ({ rows }) => {
        const won = new Set(rows.map((row) => row.id))
        busy = false
        for (const one of batch) one.resolve(won.has(one.thread))
        pump()
      },
      (cause: unknown) => {
        busy = false
        for (const one of batch) one.reject(cause)
        pump()
      }
    )
}

const append = (thread: string, expected: number, events: ReadonlyArray<Event>) =>
  new Promise<boolean>((resolve, reject) => {
    queue.push({ thread, expected, events, resolve, reject })
    if (!scheduled) {
      scheduled = true
      setImmediate(pump)
    }
  })

const machine = setup({}).createMachine({
  initial: "idle",
  states: {
    idle: { on: { N: "accepting" } },
    accepting: { on: { N: "modelling" } },
    modelling: { on: { N: "completing" } },
    completing: { on: { N: "idle" } }
  }
})

const heads = new Map<string, number>()
const event = (type: string, payload: unknown): Event => ({ id: randomUUID(), type, payload })
const reply = "All checks are green; it is safe to continue."

const Message = Schema.Struct({
  message_id: Schema.String.check(Schema.isUUID()),
  content: Schema.Array(Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }))
})
const Accepted = Schema.Struct({
  thread_id: Schema.String,
  message_id: Schema.String,
  status: Schema.Literal("accepted"),
  seq: Schema.Number
})
const Page = Schema.Struct({
  events: Schema.Array(
    Schema.Struct({
      seq: Schema.Union([Schema.Number, Schema.String]),
      event_id: Schema.String,
      type: Schema.String,
      payload: Schema.Unknown,
      occurred_at: Schema.String
    })
  )
})

const startActor = () => createActor(machine).start()

const complete = async (thread: string, seq: number, actor: ReturnType<typeof startActor>) => {
  actor.send({ type: "N" })
  const won = await append(thread, seq, [
    event("assistant_message", { content: [{ type: "text", text: reply }] }),
    event("turn_completed", { outcome: "ok" })
  ])
  if (!won) throw new Error("conflict")
  heads.set(thread, seq + 2)
  actor.send({ type: "N" })
  actor.stop()
}

const accept = async (thread: string, message: typeof Message.Type): Promise<typeof Accepted.Type> => {
  const actor = startActor()
  actor.send({ type: "N" })
  const seq = heads.get(thread) ?? 0
  if (!(await append(thread, seq, [event("user_message", message)]))) throw new Error("conflict")
  heads.set(thread, seq + 1)
  actor.send({ type: "N" })
  complete(thread, seq + 1, actor).catch(console.error)
  return { thread_id: thread, message_id: message.message_id, status: "accepted", seq: seq + 1 }
}

interface Row {
  readonly seq: string
  readonly event_id: string
  readonly type: string
  readonly payload: unknown
  readonly occurred_at: Date
}

const read = async (thread: string, after: number): Promise<typeof Page.Type> => {
  const { rows } = await reader.query<Row>({
    name: "read",
    text:
      "select seq, event_id, type, payload, occurred_at from yardstick_events where thread_id = $1 and seq > $2 " +
      "order by seq limit 200",
    values: [thread, after]
  })
  return { events: rows.map((row) => ({ ...row, occurred_at: row.occurred_at.toISOString() })) }
}

const Api = HttpApi.make("yardstick").add(
  HttpApiGroup.make("threads").add(
    HttpApiEndpoint.post("send", "/v1/threads/:id/messages", {
      params: { id: Schema.String },
      payload: Message,
      success: Accepted.pipe(HttpApiSchema.status(202))
    }),
    HttpApiEndpoint.get("events", "/v1/threads/:id/events", {
      params: { id: Schema.String },
      query: { after: Schema.String },
      success: Page
    })
  )
)

const Handlers = HttpApiBuilder.group(Api, "threads", (handlers) =>
  handlers
    .handle("send", ({ params, payload }) => Effect.promise(() => accept(params.id, payload)))
    .handle("events", ({ params, query }) => Effect.promise(() => read(params.id, Number(query.after))))
)

NodeRuntime.runMain(
  Layer.launch(
    HttpRouter.serve(HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers)), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(Layer.provide(NodeHttpServer.layer(() => http.createServer(), { port: Number(port), host: "127.0.0.1" })))
  )
)
