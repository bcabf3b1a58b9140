/**
 * The invariants of a whole run: the journal as it is at rest, held against what clients were told, what the
 * ledgers of models and tools counted, and what PostgreSQL saw of owners (audit.ts).
 *
 * J1, J3, J4 are test/invariants.ts, per journal; J2, J6 its ledger. Beyond them, here:
 *
 * J1. The head says how long the log is.
 * J2. An acknowledged input's text stands in one place, one of unknown outcome in one at most, a refused one nowhere.
 * J5. What a log says was answered is what one client was told it had answered, and nobody else was.
 * J7. Memory that is compared and set is one chain (clients/keeper.ts).
 * J8. Feeds have no gaps, and every match is handed over once, in order (clients/newsroom.ts).
 * J9. Nobody sees a log shrink; a stream shows every event once, in order.
 * J10. No wait runs out before its time by the database's clock; each is resolved once. Nor does a schedule fire
 *      early, or twice (clients/newsroom.ts).
 * J11. Nobody spends more than they may (clients/spender.ts).
 * J12. A model is asked once for each step, and once more for each time that the thread changed hands; a tool that
 *      may not run twice is executed once.
 * J13. No client sees another workspace's words (Caller.ts, clients/stranger.ts, clients/readers.ts).
 * O1, O2. What was approved is carried out once, for who may still ask (clients/asker.ts).
 * R1, R2. Five seconds after an identity was disabled, no node takes its keys (clients/leaver.ts), nor a lease five
 *      seconds after its turn (clients/lessee.ts).
 * L2, L3. Calls that are said to have been lost (unknowns.ts).
 * W1. Whoever is told of turns is told of each (clients/newsroom.ts).
 * L1. At rest nothing runs, nothing is queued, nothing is left in the inbox.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../src/cli/client.ts"
import { fromUuid, toUuid } from "../../src/domain/ids.ts"
import { fromTimestamp } from "../../src/domain/time.ts"
import { type FactColumns, factColumns, storedFact } from "../../src/journal/storedFact.ts"
import { isTerminal, openTurns, type Recorded, recorded, unaccounted, violations } from "../invariants.ts"
import { type Audit, auditViolations, isTakeover } from "./audit.ts"
import { wronglyDone } from "./clients/asker.ts"
import { forkedMemory } from "./clients/keeper.ts"
import { wrongNews } from "./clients/newsroom.ts"
import { overspent } from "./clients/spender.ts"
import type { Cluster } from "./Cluster.ts"
import type { History, ThreadHistory } from "./History.ts"
import { lostCalls } from "./unknowns.ts"

interface HeadRow {
  readonly id: string
  readonly pos: number
  readonly seq: number
  readonly status: string
}

interface WaitRow {
  readonly id: string
  readonly state: string
  readonly body: string
}

interface Stored {
  readonly head: HeadRow
  readonly log: ReadonlyArray<Recorded>
  readonly pending: ReadonlyArray<string>
  readonly gone: ReadonlySet<string>
  readonly waits: ReadonlyArray<WaitRow>
}

const uuids = (history: History) => [...history.threads.keys()].map(toUuid)

/** L1: undefined when all is at rest, else what is not. */
const unrest = async (cluster: Cluster, history: History): Promise<string | undefined> => {
  const ids = uuids(history)
  const {
    rows: [row]
  } = await cluster.pool.query<{ busy: string[]; pending: string; inbox: string }>(
    `
    select (select coalesce(array_agg(status || ' ' || id), '{}') from (select id, status from heads where id = any($1::uuid[]) and status in ('running', 'awaiting') limit 5) b) as busy,
      (select count(*) from inputs where actor = any($1::uuid[]) and state = 'pending') as pending,
      (select count(*) from inbox where actor = any($1::uuid[])) as inbox`,
    [ids]
  )
  if (row === undefined || row.busy.length + Number(row.pending) + Number(row.inbox) === 0) return undefined
  return `L1: not at rest: ${row.busy.join(", ")}; ${row.pending} inputs wait; ${row.inbox} in the inbox`
}

/** Waits until all is at rest; what is not after that time. */
export const rest = async (cluster: Cluster, history: History, ms = 60_000): Promise<string | undefined> => {
  for (const until = performance.now() + ms; ; await sleep(250)) {
    const what = await unrest(cluster, history).catch((cause: unknown) => `L1: ${String(cause)}`)
    if (what === undefined || performance.now() > until) return what
  }
}

const read = async (cluster: Cluster, history: History): Promise<ReadonlyMap<string, Stored>> => {
  // Also threads whose birth nobody was told of, and whose waits clients have found.
  const ids = [...new Set([...uuids(history), ...history.answers.map(({ threadId }) => toUuid(threadId))])]
  const { pool } = cluster
  const [heads, facts, inputs, waits] = await Promise.all([
    pool.query<HeadRow>("select id, pos, seq, status from heads where id = any($1::uuid[])", [ids]),
    pool.query<FactColumns & { actor: string }>(
      `select f.actor, ${factColumns} from facts f where f.actor = any($1::uuid[]) order by f.actor, f.pos`,
      [ids]
    ),
    pool.query<{ actor: string; id: string; state: string }>(
      "select actor, id, state from inputs where actor = any($1::uuid[])",
      [ids]
    ),
    pool.query<WaitRow & { actor: string }>(
      "select actor, id, state, readable(body)::text as body from waits where actor = any($1::uuid[])",
      [ids]
    )
  ])
  const logs = Map.groupBy(facts.rows, ({ actor }) => actor)
  const inputsOf = Map.groupBy(inputs.rows, ({ actor }) => actor)
  const waitsOf = Map.groupBy(waits.rows, ({ actor }) => actor)
  return new Map(
    heads.rows.map((head) => {
      const own = inputsOf.get(head.id) ?? []
      return [
        fromUuid("thread", head.id),
        {
          head,
          log: (logs.get(head.id) ?? []).map((row) => recorded(storedFact(row))),
          pending: own.filter(({ state }) => state === "pending").map(({ id }) => fromUuid("input", id)),
          gone: new Set(own.filter(({ state }) => state === "cancelled").map(({ id }) => fromUuid("input", id))),
          waits: waitsOf.get(head.id) ?? []
        }
      ]
    })
  )
}

const firstLine = (event: Readonly<Record<string, unknown>>) => {
  const [block] = Array.isArray(event.content) ? event.content : []
  return field(block, "text").split("\n")[0] ?? ""
}

const ofThread = (thread: ThreadHistory, { gone, head, log, pending, waits }: Stored): ReadonlyArray<string> => {
  const broken = [...violations(log)]
  if (head.pos !== log.length) broken.push(`J1: the head says ${head.pos}, the journal has ${log.length}`)
  const seq = log.reduce((max, fact) => Math.max(max, fact.seq ?? 0), 0)
  if (head.seq !== seq) broken.push(`J1: the head says seq ${head.seq}, the journal ${seq}`)
  const open = openTurns(log)
  if (head.status !== "running" && head.status !== "awaiting" && open.length > 0)
    broken.push(`J3: ${open.join()} has no end at rest`)

  // J2, J6. What was never answered may be there or not; the ledger knows the rest.
  const admissions = log.filter(({ type }) => type === "user_message")
  const admitted = new Map(admissions.map((fact) => [String(fact.event.inputId), fact]))
  const byLabel = new Map(thread.sent.map((sent) => [sent.label, sent]))
  const labelled = new Map<string, number>()
  for (const { event } of admissions) labelled.set(firstLine(event), (labelled.get(firstLine(event)) ?? 0) + 1)
  const found = [...admissions.map(({ event }) => ({ id: String(event.inputId), label: firstLine(event) }))]
  const accepted = thread.sent.flatMap((sent) => {
    if (sent.inputId !== undefined) return [{ inputId: sent.inputId, mode: sent.mode }]
    const there = found.find(({ label }) => label === sent.label)
    return there === undefined || sent.outcome === "refused" ? [] : [{ inputId: there.id, mode: "unknown" }]
  })
  const joins = new Map(thread.joins)
  for (const { inputId: told, label, mode, state } of thread.sent) {
    // Stored while its owner was away, or while its turn was ending: it may join whatever turn runs then. So may one
    // whose answer was lost.
    const inputId = told ?? found.find((other) => other.label === label)?.id
    const turn = inputId === undefined ? undefined : admitted.get(inputId)?.turn
    if (inputId !== undefined && mode !== "queue" && state !== "steered" && turn !== undefined && turn !== null)
      joins.set(inputId, turn)
  }
  for (const inputId of thread.unordered) {
    const turn = admitted.get(inputId)?.turn
    if (turn !== undefined && turn !== null && !joins.has(inputId)) joins.set(inputId, turn)
  }
  const told = new Set(thread.sent.flatMap(({ inputId }) => inputId ?? []))
  for (const id of gone)
    if (!thread.mayBeGone.has(id) && (told.has(id) || !thread.cleared)) broken.push(`J2: ${id} was removed by nobody`)
  broken.push(
    ...unaccounted(log, { accepted, removed: gone, pending, unordered: thread.unordered, joins }).map((text) =>
      text.replace(/^I5/, "J2").replace(/^I6/, "J6")
    )
  )
  for (const [label, times] of labelled) {
    if (times > 1) broken.push(`J2: ${label} was admitted ${times} times`)
    if (byLabel.get(label)?.outcome === "refused") broken.push(`J2: ${label} was refused, and admitted`)
  }
  for (const [inputId, texts] of thread.texts) {
    const fact = admitted.get(inputId)
    if (fact !== undefined && !texts.has(firstLine(fact.event)))
      broken.push(`J2: ${inputId} says ${firstLine(fact.event)}, not ${[...texts].join(" or ")}`)
  }
  for (const [inputId, promised] of thread.promised) {
    if (admitted.get(inputId)?.seq !== promised)
      broken.push(`J2: ${inputId} was promised seq ${promised}, and has ${admitted.get(inputId)?.seq}`)
  }

  // J5, J10.
  const resolutions = Map.groupBy(
    log.filter(({ type }) => type === "wait_resolved"),
    ({ event }) => String(event.waitId)
  )
  for (const { body, id, state } of waits) {
    const waitId = fromUuid("wait", id)
    const resolved = resolutions.get(waitId) ?? []
    if (resolved.length > 1) broken.push(`J5: ${waitId} was resolved ${resolved.length} times`)
    if (state !== "open" && resolved.length !== 1)
      broken.push(`J5: ${waitId} is ${state}, and resolved ${resolved.length} times in the log`)
    const expiresAt = fromTimestamp(field(JSON.parse(body), "expiresAt"))
    for (const fact of resolved) {
      if (field(fact.event, "waitResult", "outcome") === "expired" && fact.at < expiresAt)
        broken.push(`J10: ${waitId} ran out ${expiresAt - fact.at} ms early`)
    }
  }
  return broken
}

/** J5: the one answer that was accepted is the one that the log has. */
const answersKept = (history: History, stored: ReadonlyMap<string, Stored>) => {
  const broken: Array<string> = []
  for (const [waitId, given] of Map.groupBy(history.answers, ({ waitId }) => waitId)) {
    const marks = new Set(given.map(({ mark }) => mark))
    if (marks.size > 1) broken.push(`J5: ${waitId} accepted ${marks.size} different answers`)
    const log = stored.get(given[0]?.threadId ?? "")?.log ?? []
    const about = log.filter(
      ({ event }) =>
        event.waitId === waitId ||
        event.toolCallId === log.find((fact) => fact.event.waitId === waitId)?.event.toolCallId
    )
    const said = about.map(({ event }) => JSON.stringify(event)).join()
    for (const mark of marks)
      if (!said.includes(mark)) broken.push(`J5: the answer ${mark} to ${waitId} was accepted, and the log has another`)
  }
  return broken
}

/** J9, of single looks: whoever looks after another has seen sees no less. */
const monotonic = (history: History, stored: ReadonlyMap<string, Stored>) => {
  const broken: Array<string> = []
  for (const [threadId, all] of Map.groupBy(history.seen, ({ threadId }) => threadId)) {
    const byEnd = all.toSorted((a, b) => a.ended - b.ended)
    const byBegin = all.toSorted((a, b) => a.began - b.began)
    let known = 0
    let i = 0
    for (const look of byBegin) {
      for (let before = byEnd[i]; before !== undefined && before.ended < look.began; before = byEnd[++i])
        known = Math.max(known, before.seq)
      if (look.whole && look.seq < known) broken.push(`J9: ${threadId} was seen at ${known}, and later at ${look.seq}`)
    }
    const last = stored.get(threadId)?.head.seq ?? 0
    if (all.some(({ seq }) => seq > last)) broken.push(`J9: ${threadId} was seen past its end`)
  }
  for (const { seqs, threadId } of history.followed) {
    const wrong = seqs.findIndex((seq, i) => seq !== i + 1)
    if (wrong !== -1) broken.push(`J9: a stream of ${threadId} shows ${seqs[wrong]} in place ${wrong + 1}`)
    const last = stored.get(threadId)?.head.seq ?? 0
    if (wrong === -1 && seqs.length < last)
      broken.push(`J9: a stream of ${threadId} shows ${seqs.length} of ${last} events`)
  }
  return broken
}

export interface Verdict {
  readonly violations: ReadonlyArray<string>
  readonly acknowledged: number
  readonly events: number
  /** Threads with work taken over from an owner whose lease was over. */
  readonly takeovers: number
  /** Model calls beyond one a step. */
  readonly extraCalls: number
  /** The most of one thread. */
  readonly extraCallsOfOne: number
  readonly waitLatenessMs: ReadonlyArray<number>
  /**
   * When each input that opened a turn was admitted, and since when nothing ran before it (milliseconds since 1970).
   */
  readonly admitted: ReadonlyMap<string, { readonly at: number; readonly freeSince: number }>
}

export const check = async (
  cluster: Cluster,
  history: History,
  audit: Audit,
  restless: string | undefined
): Promise<Verdict> => {
  const stored = await read(cluster, history)
  const broken = [
    ...history.problems,
    ...auditViolations(audit),
    ...answersKept(history, stored),
    ...monotonic(history, stored),
    ...(await overspent(cluster, history)),
    ...(await wronglyDone(cluster, history)),
    ...(await forkedMemory(cluster, history)),
    ...(await wrongNews(cluster, history))
  ]
  if (restless !== undefined) broken.push(restless)
  const claims = new Map<string, number>()
  // A claim of what is mine already too: a node that was fenced for a moment has dropped it and takes it up again.
  for (const { actor, owner_after, rev_after, rev_before } of audit.heads) {
    if (rev_after === rev_before && owner_after !== null) claims.set(actor, (claims.get(actor) ?? 0) + 1)
  }

  const lateness: Array<number> = []
  const admitted = new Map<string, { readonly at: number; readonly freeSince: number }>()
  let events = 0
  let extraCalls = 0
  let extraCallsOfOne = 0
  const asked = Map.groupBy(cluster.models.calls, ({ label }) => label)
  for (const [threadId, thread] of history.threads) {
    const all = stored.get(threadId)
    if (all === undefined) {
      broken.push(`J2: ${threadId} was acknowledged, and is not there`)
      continue
    }
    events += all.log.length
    broken.push(...ofThread(thread, all).map((text) => `${text} (${threadId})`))
    for (const { event, at: when, type } of all.log) {
      if (type !== "wait_resolved" || field(event, "waitResult", "outcome") !== "expired") continue
      const row = all.waits.find(({ id }) => fromUuid("wait", id) === String(event.waitId))
      if (row !== undefined) lateness.push(when - fromTimestamp(field(JSON.parse(row.body), "expiresAt")))
    }
    let freeSince = 0
    let opened: string | null = null
    for (const fact of all.log) {
      // One that joins a running turn was not picked up: it waited for that turn's next step.
      if (fact.type === "user_message" && fact.turn !== opened) {
        admitted.set(String(fact.event.inputId), { at: fact.at, freeSince })
        opened = fact.turn
      }
      if (isTerminal(fact)) freeSince = fact.at
    }
    if (!thread.prober) continue
    let extra = 0
    for (const { label } of thread.sent) {
      for (const calls of Map.groupBy(asked.get(label) ?? [], ({ step }) => step).values()) extra += calls.length - 1
    }
    const hands = claims.get(toUuid(threadId)) ?? 0
    if (extra > hands)
      broken.push(`J12: ${threadId} changed hands ${hands} times and asked the model ${extra} times too often`)
    extraCalls += extra
    extraCallsOfOne = Math.max(extraCallsOfOne, extra)
  }
  for (const [id, calls] of Map.groupBy(
    cluster.tools.calls.filter(({ tool }) => tool === "charge"),
    ({ toolCallId }) => String(toolCallId)
  )) {
    if (calls.length > 1) broken.push(`J12: charge ran ${calls.length} times for ${id}`)
  }
  broken.push(
    ...lostCalls(
      new Map([...stored].map(([threadId, { log }]) => [threadId, log])),
      audit,
      cluster.tools.calls,
      (name) => name.endsWith(".charge")
    )
  )
  return {
    violations: broken,
    acknowledged: history.acknowledged,
    events,
    extraCalls,
    extraCallsOfOne,
    waitLatenessMs: lateness,
    admitted,
    takeovers: audit.heads.filter((change) => isTakeover(change) && change.since_before !== null).length
  }
}

export const lastSeqOf = async (cluster: Cluster, history: History) => {
  const { rows } = await cluster.pool.query<{ id: string; seq: number }>(
    "select id, seq from heads where id = any($1::uuid[])",
    [uuids(history)]
  )
  const all = new Map<string, number>(rows.map(({ id, seq }) => [fromUuid("thread", id), seq]))
  return (threadId: string) => all.get(threadId) ?? 0
}
