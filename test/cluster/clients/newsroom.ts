/**
 * A newsroom in each workspace: reports are appended to a feed, one reader follows it, subscriptions hand what matches to
 * an agent, schedules fire, and an endpoint is told of its turns.
 *
 * J8. Seqs have no gaps; no reader skips one; an acknowledged message stands where its client was told, once; every match
 *     is handed over once, in the order of the feed.
 * J10. No instant fires twice, or early, and none is forgotten: of a schedule of every minute, too. Each fire is a run,
 *     and each run that has begun is a fire.
 * W1. Whoever is told of turns is told of each that has ended, at least once, and nothing is held to be told that was not.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { field, listIn } from "../../../src/cli/client.ts"
import { fromUuid, toUuid } from "../../../src/domain/ids.ts"
import { type FactColumns, factColumns, storedFact } from "../../../src/journal/storedFact.ts"
import type { Caller } from "../Caller.ts"
import type { Cluster } from "../Cluster.ts"
import type { History, Newsroom } from "../History.ts"
import type { Office } from "./office.ts"

const matching = `text.startsWith("yes")`

/** It fails one event in three at its first attempt. */
const listenTo = async (taken: Set<string>, random: () => number) => {
  const failed = new Set<string>()
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const id = String(request.headers["webhook-id"])
      if (!failed.has(id) && random() < 0.33) {
        failed.add(id)
        response.writeHead(500).end()
        return
      }
      taken.add(id)
      response.writeHead(204).end()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  server.unref()
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`
}

const openNewsroom = async (office: Office, caller: Caller): Promise<Newsroom> => {
  const { create, history, name } = office
  const profileId = await create(caller, "/v1/profiles", { name: "news", models: ["troupe/scripted"] }, "profile", "id")
  const agentId = await create(caller, "/v1/agents", { name: "reporter", profileId }, "agent", "id")
  const feedId = await create(caller, "/v1/feeds", { name: `${name}/${office.workspace.id}` }, "feed", "id")
  const taken = new Set<string>()
  // Those of the runs before on this cluster: a workspace has 20 at most.
  const hooks = await caller.ask("GET", "/v1/webhooks")
  for (const hook of listIn(hooks?.body, "webhooks")) await caller.ask("DELETE", `/v1/webhooks/${field(hook, "id")}`)
  const url = await listenTo(taken, caller.random)
  const events = ["turn.completed", "turn.failed"]
  const webhookId = await create(caller, "/v1/webhooks", { url, events, agentId }, "webhook", "id")
  const subscribe = (cadence: object) =>
    create(
      caller,
      `/v1/agents/${agentId}/subscriptions`,
      { feedId, condition: matching, target: { mode: "reuse" }, cadence },
      "id"
    )
  const subscriptions = [
    await subscribe({ mode: "immediate", maxMessages: 5 }),
    await subscribe({ mode: "window", windowSeconds: 30, maxMessages: 4 })
  ]
  const minutely = await everyMinute(office, caller, agentId)
  const room = { agentId, feedId, webhookId, subscriptions, appended: new Map(), schedules: new Map(), minutely, taken }
  history.newsrooms.push(room)
  return room
}

const minuteMs = 60_000

/** Whatever is missed is one run, so that every instant is in the list of runs. */
const everyMinute = async (
  { create, workspace }: Pick<Office, "create" | "workspace">,
  caller: Caller,
  agentId: string
) => {
  const path = `/v1/agents/${agentId}/schedules`
  const body = {
    name: "minutely",
    trigger: { type: "cron", expression: "* * * * *", timezone: "UTC" },
    target: { mode: "spawn" },
    catchUpSeconds: 3_600,
    message: { content: [{ type: "text", text: workspace.canary }] }
  }
  const id = await create(caller, path, body, "schedule", "id")
  const made = await caller.ask("GET", `${path}/${id}`)
  const runs = async () => {
    const found: Array<unknown> = []
    for (let cursor = ""; ; ) {
      const page = await caller.ask("GET", `${path}/${id}/runs?limit=100${cursor}`)
      if (page?.status !== 200) throw new Error(`the runs of ${id} cannot be read: ${page?.status}`)
      found.push(...listIn(page.body, "runs"))
      const next = field(page.body, "nextCursor")
      if (next === "") return found
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
  }
  return { id, madeAt: Date.parse(field(made?.body, "schedule", "createdAt")), runs }
}

export const reportNews = async (office: Office) => {
  const { next, working, workspace } = office
  const caller = office.caller()
  const { random } = caller
  const room = await openNewsroom(office, caller)
  const append = async () => {
    const texts = Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => `${random() < 0.4 ? "yes" : "no"} ${workspace.canary} ${next()}`
    )
    const path = `/v1/feeds/${room.feedId}/messages`
    const answer = await caller.ask("POST", path, { messages: texts.map((text) => ({ text })) }, { key: next() })
    if (answer?.status !== 201) return
    for (const [i, message] of listIn(answer.body, "messages").entries())
      room.appended.set(texts[i] ?? "", Number(field(message, "seq")))
  }
  const schedule = async () => {
    const at = Date.now() + 1_000 + Math.floor(random() * 3_000)
    const body = {
      name: "once",
      trigger: { type: "once", at: new Date(at).toISOString() },
      target: { mode: "spawn" },
      message: { content: [{ type: "text", text: workspace.canary }] }
    }
    const answer = await caller.ask("POST", `/v1/agents/${room.agentId}/schedules`, body, { key: next() })
    // One that was tried for too long is past by then, and refused.
    if (answer?.status === 201) room.schedules.set(field(answer.body, "schedule", "id"), at)
  }
  const report = async () => {
    for (let turn = 1; working(); turn++) {
      await append()
      if (turn % 4 === 0 && room.schedules.size < 90) await schedule()
      await sleep(100 + random() * 400 + random() * 2 * office.roundMs)
    }
  }
  /** From its first message on, whatever node answers. */
  const follow = async () => {
    const reader = office.caller()
    let seen = 0
    while (working()) {
      const answer = await reader.ask("GET", `/v1/feeds/${room.feedId}/messages?startSeq=${seen + 1}&waitSeconds=1`)
      for (const message of answer?.status === 200 ? listIn(answer.body, "messages") : []) {
        const seq = Number(field(message, "seq"))
        if (seq !== seen + 1) office.history.problems.push(`J8: a reader of ${room.feedId} saw ${seq} after ${seen}`)
        seen = seq
      }
    }
  }
  await Promise.all([report(), follow()])
  await caller.ask("PATCH", `/v1/agents/${room.agentId}/schedules/${room.minutely.id}`, { enabled: false })
}

interface Told {
  readonly threadId: string
  readonly principal: string
  readonly at: number
  readonly texts: ReadonlyArray<string>
}

/** Messages of others to the agent's threads, thread by thread in order, and the ends of turns. */
const readThreads = async ({ pool }: Cluster, agentId: string) => {
  const { rows } = await pool.query<FactColumns & { readonly thread: string }>(
    `select h.id as thread, ${factColumns} from facts f join heads h on h.id = f.actor
      where h.parent = $1 and h.kind = 'thread' and f.seq is not null order by h.id, f.pos`,
    [toUuid(agentId)]
  )
  const told: Array<Told> = []
  const ended: Array<string> = []
  for (const { thread, ...row } of rows) {
    const { at, event, turn, type } = storedFact(row)
    if (turn !== null && (type === "turn_completed" || type === "turn_failed")) ended.push(turn)
    if (type !== "user_message") continue
    const body: unknown = JSON.parse(event)
    told.push({
      threadId: fromUuid("thread", thread),
      principal: field(body, "principal", "id"),
      at,
      texts: listIn(body, "content").map((block) => field(block, "text"))
    })
  }
  return { told, ended }
}

/** What schedules of the agent have put down of their runs, schedule by schedule. */
const runsOf = async ({ pool }: Cluster, agentId: string) => {
  const { rows } = await pool.query<FactColumns & { readonly schedule: string }>(
    `select h.id as schedule, ${factColumns} from facts f join heads h on h.id = f.actor
      where h.parent = $1 and h.kind = 'schedule' and f.seq is not null order by h.id, f.pos`,
    [toUuid(agentId)]
  )
  return Map.groupBy(
    rows.map(({ schedule, ...row }): unknown => ({
      ...JSON.parse(storedFact(row).event),
      scheduleId: fromUuid("schedule", schedule)
    })),
    (run) => field(run, "scheduleId")
  )
}

/** What J10 finds wrong in the runs of one schedule, and in what it has said to whom. */
const wrongRuns = (id: string, runs: ReadonlyArray<unknown>, fires: ReadonlyArray<Told>): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const begun = new Set<string>()
  for (const [instant, same] of Map.groupBy(runs, (run) => field(run, "scheduledAt")))
    if (same.length > 1) wrong.push(`J10: ${same.length} runs of ${id} are of ${instant}`)
  for (const run of runs) {
    const [at, startedAt, status] = ["scheduledAt", "startedAt", "status"].map((name) => field(run, name))
    if (status !== "started") {
      if (status !== "skipped") wrong.push(`J10: a run of ${id} is ${status} ${field(run, "reason")}`)
      continue
    }
    if (Date.parse(startedAt ?? "") < Date.parse(at ?? "")) wrong.push(`J10: ${id} has fired at ${startedAt} for ${at}`)
    begun.add(field(run, "threadId"))
  }
  for (const { threadId } of fires)
    if (!begun.delete(threadId)) wrong.push(`J10: no run of ${id} has begun ${threadId}`)
  for (const threadId of begun) wrong.push(`J10: a run of ${id} is said to have begun ${threadId}`)
  return wrong
}

/** Of a schedule of every minute: from the first one on, up to the last that it has a run of. */
const forgotten = (id: string, madeAt: number, runs: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const instants = runs.map((run) => Date.parse(field(run, "scheduledAt")))
  const counted = runs.reduce<number>((sum, run) => sum + Number(field(run, "count") || 1), 0)
  const first = Math.floor(madeAt / minuteMs) * minuteMs + minuteMs
  const passed = runs.length === 0 ? 0 : (Math.max(...instants) - first) / minuteMs + 1
  return counted === passed
    ? []
    : [`J10: ${id} has runs of ${counted} of ${passed} instants since ${new Date(first).toISOString()}`]
}

const messagesOf = async ({ pool }: Cluster, feedId: string) => {
  const { rows } = await pool.query<{ readonly seq: string; readonly text: string }>(
    "select seq, body ->> 'text' as text from feed_messages where feed = $1 order by seq",
    [toUuid(feedId)]
  )
  return rows.map(({ seq, text }) => ({ seq: Number(seq), text }))
}

const deliveriesOf = async ({ pool }: Cluster, webhookId: string) => {
  const { rows } = await pool.query<{ readonly event: string; readonly state: string; readonly turn: string }>(
    `select d.event, d.state, e.body::json -> 'data' ->> 'turnId' as turn from webhook_deliveries d
      join webhook_events e on e.workspace = d.workspace and e.id = d.event where d.webhook = $1`,
    [toUuid(webhookId)]
  )
  return rows.map(({ event, state, turn }) => ({ eventId: fromUuid("webhookEvent", event), state, turn }))
}

const wrongIn = async (cluster: Cluster, room: Newsroom): Promise<ReadonlyArray<string>> => {
  const { agentId, appended, feedId, minutely, schedules, subscriptions, taken, webhookId } = room
  const messages = await messagesOf(cluster, feedId)
  const { ended, told } = await readThreads(cluster, agentId)
  const deliveries = await deliveriesOf(cluster, webhookId)
  const wrong: Array<string> = []
  const gap = messages.findIndex(({ seq }, i) => seq !== i + 1)
  if (gap >= 0) wrong.push(`J8: ${feedId} goes on with ${messages[gap]?.seq} after ${gap}`)
  const places = Map.groupBy(messages, ({ text }) => text)
  for (const [text, all] of places) if (all.length > 1) wrong.push(`J8: ${all.length} messages of ${feedId}: ${text}`)
  for (const [text, seq] of appended)
    if (places.get(text)?.[0]?.seq !== seq) wrong.push(`J8: ${text} was told to be ${seq} of ${feedId}`)
  const matches = messages.flatMap(({ seq, text }) => (text.startsWith("yes") ? [seq] : []))
  for (const id of subscriptions) {
    const handed = told
      .filter(({ principal }) => principal === id)
      .flatMap(({ texts: [text = ""] }) => [...text.matchAll(/^#(\d+) /gm)].map(([, seq]) => Number(seq)))
    if (!isDeepStrictEqual(handed, matches))
      wrong.push(`J8: ${id} has handed over ${handed.join(" ")}, and ${matches.join(" ")} match`)
  }
  const runs = await runsOf(cluster, agentId)
  const firesOf = (id: string) => told.filter(({ principal }) => principal === id)
  for (const [id, instant] of schedules) {
    const fires = firesOf(id)
    if (fires.length !== 1) wrong.push(`J10: ${id} has fired ${fires.length} times`)
    for (const { at } of fires) if (at < instant) wrong.push(`J10: ${id} has fired ${instant - at} ms early`)
    wrong.push(...wrongRuns(id, runs.get(id) ?? [], fires))
  }
  const { id, madeAt } = minutely
  const listed = await minutely.runs()
  wrong.push(...wrongRuns(id, listed, firesOf(id)), ...forgotten(id, madeAt, listed))
  if (!isDeepStrictEqual(listed.toReversed(), runs.get(id) ?? []))
    wrong.push(`J10: the runs of ${id} are not listed as they are in its log`)
  const announced = Map.groupBy(deliveries, ({ turn }) => turn)
  for (const turn of ended)
    if (announced.get(turn)?.length !== 1) wrong.push(`W1: ${announced.get(turn)?.length ?? 0} events tell of ${turn}`)
  for (const { eventId, state } of deliveries) {
    if (state !== "delivered") wrong.push(`W1: ${eventId} is ${state}`)
    else if (!taken.has(eventId)) wrong.push(`W1: ${eventId} is said to be delivered, and was not`)
  }
  return wrong
}

/** What is on its way has time: a window, a pause after an attempt that failed, a delivery whose node has died. */
const patienceMs = 100_000

export const wrongNews = async (cluster: Cluster, { newsrooms }: History): Promise<ReadonlyArray<string>> => {
  for (const until = performance.now() + patienceMs; ; await sleep(500)) {
    const wrong = (await Promise.all(newsrooms.map((room) => wrongIn(cluster, room)))).flat()
    if (wrong.length === 0 || performance.now() > until) return wrong
  }
}
