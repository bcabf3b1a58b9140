/**
 * The sections of the one statement that appends (appendStatement.ts): of each, which rows an append brings, the
 * columns of their arrays, and what is written of those that have won. Text and values are made of this one table, so
 * that an array cannot stand in another one's place.
 */
import { booleans, floats, ints, moments, texts, uuids } from "../database/parameters.ts"
import { short } from "../database/shorthand.ts"
import { telling } from "../database/telling.ts"
import { nearMs, shared } from "./agenda.ts"
import type { Append } from "./Journal.ts"
import { storedDetail, storedEvent } from "./storedFact.ts"

/** An append with the incarnation that owned the actor when it was asked for. */
export interface OwnedAppend extends Append {
  readonly owner: string
}

/** One array of a section: a title, a type, and what it has for each row. */
interface Column<Row> {
  readonly title: string
  readonly type: string
  readonly arrayOf: (rows: ReadonlyArray<Row>) => Buffer
}

const column =
  <Row, A>(type: string, array: (rows: ReadonlyArray<Row>, pick: (row: Row) => A | null) => Buffer) =>
  (title: string, pick: (row: Row) => A | null): Column<Row> => ({
    title,
    type,
    arrayOf: (rows) => array(rows, pick)
  })

/** The columns that rows of one shape may have. */
const columnsOf = <Row>() => ({
  uuid: column<Row, string>("uuid", uuids),
  int: column<Row, number>("int", ints),
  text: column<Row, string>("text", texts),
  bool: column<Row, boolean>("bool", booleans),
  float: column<Row, number>("float8", floats),
  moment: column<Row, number>("timestamptz", moments)
})

/** What a batch has of a section: its text, and its arrays. */
export interface Section {
  /** Its place in the variant's name. */
  readonly bit: number
  readonly name: string
  /** Behind `o`, the append that a row belongs to, which all have. */
  readonly columns: ReadonlyArray<Pick<Column<never>, "title" | "type">>
  /** `o` first; undefined where no append has a row. */
  readonly arraysOf: (appends: ReadonlyArray<OwnedAppend>) => ReadonlyArray<Buffer> | undefined
  /** What it writes of the winners, as a part of a `with`; empty where nothing but others reads its rows. */
  readonly writes: string
}

interface SectionOf<Row> extends Omit<Section, "arraysOf" | "columns"> {
  readonly rows: (append: OwnedAppend) => ReadonlyArray<Row> | undefined
  readonly columns: (of: ReturnType<typeof columnsOf<Row>>) => ReadonlyArray<Column<Row>>
}

const section = <Row>({ rows, columns: columnsFrom, ...rest }: SectionOf<Row>): Section => {
  const columns = columnsFrom(columnsOf())
  return {
    ...rest,
    columns,
    arraysOf: (appends) => {
      const order: Array<number> = []
      const all: Array<Row> = []
      // Each append of each node comes by here: no iterator, no array for those without rows.
      for (let o = 0; o < appends.length; o++) {
        const picked = rows(appends[o]!)
        if (picked === undefined) continue
        for (let i = 0; i < picked.length; i++) {
          order.push(o)
          all.push(picked[i]!)
        }
      }
      return all.length === 0 ? undefined : [ints(order, (o) => o), ...columns.map(({ arrayOf }) => arrayOf(all))]
    }
  }
}

const keptFor = "interval '24 hours'"
const minuteOf = (ms: number) => Math.floor(ms / 60_000)

const { bool, int, moment, text, uuid } = columnsOf<OwnedAppend>()

/** Of every batch: the heads as they are to be, an append a row. */
export const heads: ReadonlyArray<Column<OwnedAppend>> = [
  uuid("w", (a) => a.actor.workspace),
  uuid("id", (a) => a.actor.id),
  uuid("me", (a) => a.owner),
  int("epoch", (a) => a.epoch),
  int("rev", (a) => a.rev),
  int("pos", (a) => a.head.pos),
  int("seq", (a) => a.head.seq),
  int("touched", (a) => minuteOf(a.head.updatedAt)),
  moment("updated_at", (a) => a.head.updatedAt),
  int("since", (a) => a.head.since),
  moment("runnable_at", (a) => a.head.runnableAt),
  text("status", (a) => a.head.status),
  text("carry", (a) => short(a.head.carry)),
  bool("moved", (a) => a.facts.length > 0),
  bool("behind", (a) => a.requiresEmptyInbox === true)
]

/** Heads that are there already, of a batch that has any. */
export const moved = {
  bit: 1,
  writes: `moved as (update heads t
  set pos = h.pos, seq = h.seq, rev = h.rev + 1, touched = h.touched, updated_at = h.updated_at, since = h.since,
    runnable_at = h.runnable_at, status = h.status, carry = h.carry,
    fruitless = case when h.moved then 0 else t.fruitless end
  from h where h.rev > 0 and t.id = h.id and t.workspace = h.w
    and t.epoch = h.epoch and t.rev = h.rev and t.owner = h.me
    and not (h.behind and exists (select from inbox i where i.actor = h.id))
  returning h.o, h.w, h.id)`
}

// A birth loses to one that came before, and to a live key of its own. Two at the same instant meet in the
// primary key instead (W2): `on conflict` would log every row twice.
const inserting = (keyed: boolean) => `inserted as (insert into heads
    (workspace, id, parent, created_at, kind, attributes, owner, epoch, pos, seq, rev, touched, updated_at, since,
      runnable_at, status, carry)
  select h.w, h.id, b.parent, h.updated_at, b.kind, b.attributes, h.me, h.epoch, h.pos, h.seq, 1, h.touched,
    h.updated_at, h.since, h.runnable_at, h.status, h.carry
  from b join h using (o) where not exists (select from heads t where t.id = h.id)${
    keyed
      ? `
    and not exists (select from k join idempotency i on i.workspace = h.w and i.scope = k.scope where k.o = b.o and
      i.created_at > now() - ${keptFor})`
      : ""
  }
  returning id),
born as (select h.o, h.w, h.id from inserted i join h on h.id = i.id)`

const births = (keyed: boolean) =>
  section({
    bit: 2,
    name: "b",
    rows: ({ actor, birth }) => (birth === undefined ? undefined : [{ ...birth, kind: actor.kind }]),
    columns: ({ text, uuid }) => [
      text("kind", (b) => b.kind),
      uuid("parent", (b) => b.parent),
      text("attributes", (b) => short(b.attributes))
    ],
    writes: inserting(keyed)
  })
/** Heads of births; where the batch has keys, a birth looks whether its own has been used. */
export const born = births(false)
export const bornKeyed = births(true)

const factRows = ({ facts, head }: Append) => {
  let pos = head.pos - facts.length
  let seq = head.seq
  for (const fact of facts) if (fact.public) seq--
  return facts.map((fact) => ({ fact, pos: ++pos, seq: fact.public ? ++seq : null }))
}

const facts = section({
  bit: 4,
  name: "f",
  rows: (append) => (append.facts.length === 0 ? undefined : factRows(append)),
  columns: ({ bool, int, moment, text, uuid }) => [
    int("pos", (f) => f.pos),
    int("seq", (f) => f.seq),
    int("n", (f) => f.fact.n),
    uuid("turn", (f) => f.fact.turn),
    moment("at", (f) => f.fact.at),
    uuid("once", (f) => f.fact.once),
    bool("listed", (f) => f.fact.listed === true),
    text("event", (f) => storedEvent(f.fact)),
    text("detail", (f) => storedDetail(f.fact)),
    int("cause", (f) => f.fact.cause ?? null)
  ],
  writes: `written as (
  insert into facts (actor, at, pos, seq, n, turn, once, workspace, event, detail, cause)
  select won.id, f.at, f.pos, f.seq, f.n, f.turn, f.once, case when f.listed then won.w end, f.event, f.detail,
    f.cause from f
    join won using (o))`
})

// Who has a new moment to be looked at: those of about the same moment share a row (G1, G4 of agenda.ts).
const noting = (bit: number, name: string, table: string, near: boolean) =>
  section({
    bit,
    name,
    rows: ({ head, owner, wakes }) =>
      wakes === undefined || wakes <= head.updatedAt + nearMs !== near ? undefined : [{ owner, at: wakes }],
    columns: ({ moment, uuid }) => [uuid("owner", (w) => w.owner), moment("at", (w) => w.at)],
    writes: `noted_${name} as (insert into ${table} (owner, at, actors)
  select ${name}.owner, max(${name}.at), array_agg(won.id) from ${name} join won using (o) group by ${name}.owner,
    ${shared(`${name}.at`)})`
  })

const inputsPut = section({
  bit: 8,
  name: "ip",
  rows: (append) => append.inputs?.put,
  columns: ({ int, text, uuid }) => [
    uuid("id", (r) => r.id),
    int("ord", (r) => r.ord),
    text("state", (r) => r.state),
    text("body", (r) => r.body)
  ],
  writes: `put_inputs as (insert into inputs (workspace, actor, id, ord, state, body)
  select won.w, won.id, ip.id, ip.ord, ip.state, ip.body from ip join won using (o)
  on conflict (workspace, actor, id) do update set ord = excluded.ord, state = excluded.state, body = excluded.body)`
})

const inputsDrop = section({
  bit: 16,
  name: "dropped",
  rows: (append) => append.inputs?.drop,
  columns: ({ uuid }) => [uuid("id", (id) => id)],
  writes: `dropped_inputs as (delete from inputs t using dropped join won using (o)
  where t.workspace = won.w and t.actor = won.id and t.id = dropped.id)`
})

const waits = section({
  bit: 32,
  name: "wp",
  rows: (append) => append.waits,
  columns: ({ moment, text, uuid }) => [
    uuid("id", (r) => r.id),
    text("target", (r) => r.target),
    text("state", (r) => r.state),
    moment("created_at", (r) => r.createdAt),
    text("body", (r) => r.body),
    uuid("call", (r) => r.call?.id ?? null),
    uuid("toolset", (r) => r.call?.toolset ?? null)
  ],
  writes: `put_waits as (insert into waits
    (workspace, actor, id, target, state, created_at, body, call, toolset)
  select won.w, won.id, wp.id, wp.target, wp.state, wp.created_at, wp.body, wp.call, wp.toolset from wp join won using
    (o)
  on conflict (workspace, id) do update set state = excluded.state, body = excluded.body)`
})

// A live key that is there already fails the statement (created_at is not null): its effect must not happen.
export const keys = section({
  bit: 64,
  name: "k",
  rows: (append) => append.keys,
  columns: ({ int, text }) => [
    text("scope", (k) => k.scope),
    text("fingerprint", (k) => k.fingerprint),
    int("status", (k) => k.status),
    text("body", (k) => k.body)
  ],
  writes: `kept as (insert into idempotency (workspace, scope, created_at, status, fingerprint, body)
  select won.w, k.scope, now(), k.status, k.fingerprint, k.body from k join won using (o)
  on conflict (workspace, scope) do update set status = excluded.status, fingerprint = excluded.fingerprint, body =
    excluded.body,
    created_at = case when idempotency.created_at > now() - ${keptFor} then null else excluded.created_at end)`
})

// What was set aside for model calls goes with the facts that tell of them. One that was cut off costs its prompt's
// price.
const settles = section({
  bit: 2048,
  name: "st",
  rows: ({ head, settles }) => settles?.map((settled) => ({ ...settled, minute: minuteOf(head.updatedAt) })),
  columns: ({ float, int, uuid }) => [
    uuid("id", (s) => s.id),
    float("cost", (s) => s.cost ?? null),
    int("minute", (s) => s.minute)
  ],
  writes: `settled as (delete from reservations r using st join won using (o) join h using (o)
  where r.workspace = won.w and r.id = st.id
  returning won.w, r.subject, r.threads, st.minute, h.me, st.cost is null as cut, coalesce(st.cost, r.prompt) as cost),
spent_by_threads as (insert into thread_spend (workspace, thread, amount)
  select settled.w, t, sum(settled.cost) from settled, unnest(settled.threads) t group by 1, 2 order by 1, 2
  on conflict (workspace, thread) do update set amount = thread_spend.amount + excluded.amount)`
})

const archives = section({
  bit: 4096,
  name: "ar",
  rows: ({ archives, head }) => (archives === true ? [head.updatedAt] : undefined),
  columns: ({ moment }) => [moment("at", (at) => at)],
  writes: `archived as (insert into archived_threads (workspace, thread, at) select won.w, won.id, ar.at \
from ar join won
  using (o) on conflict do nothing)`
})

const announces = section({
  bit: 8192,
  name: "ev",
  rows: (append) => append.announces,
  columns: ({ moment, text, uuid }) => [
    uuid("id", (e) => e.id),
    text("type", (e) => e.type),
    uuid("agent", (e) => e.agentId ?? null),
    text("body", (e) => e.body),
    moment("at", (e) => e.at)
  ],
  writes: `told as (select won.w as workspace, ev.id, ev.type, ev.agent, ev.body, ev.at from ev join won using (o)),
${telling("told")}`
})

const spend = section({
  bit: 128,
  name: "s",
  rows: ({ head, spent }) => (spent === undefined ? undefined : [{ ...spent, minute: minuteOf(head.updatedAt) }]),
  columns: ({ float, int, uuid }) => [
    uuid("subject", (s) => s.subject),
    int("minute", (s) => s.minute),
    float("amount", (s) => s.amount)
  ],
  writes: ""
})

const inbox = section({
  bit: 256,
  name: "x",
  rows: (append) => append.accepted,
  columns: ({ text }) => [text("id", (id) => id)],
  writes: `accepted as (delete from inbox t using x join won using (o) where t.workspace = won.w and t.id = x.id)`
})

/** Of the winners, in the order in which they stand in the statement. */
export const sections: ReadonlyArray<Section> = [
  facts,
  noting(512, "g", "agenda", true),
  noting(1024, "l", "agenda_later", false),
  inputsPut,
  inputsDrop,
  waits,
  keys,
  settles,
  archives,
  announces,
  spend,
  inbox
]

const spendRows: ReadonlyArray<readonly [section: Section, rows: string]> = [
  [spend, `select won.w, s.subject, s.minute, h.me, s.amount from s join won using (o) join h using (o)`],
  [settles, `select w, subject, minute, me, cost from settled where cut`]
]

/**
 * What is booked of spend, and of calls that were cut off. Each node has rows of its own, so that none waits for
 * another's commit.
 */
export const booking = (has: (section: Section) => boolean): string | undefined => {
  const sources = spendRows.flatMap(([section, rows]) => (has(section) ? [rows] : []))
  return sources.length === 0
    ? undefined
    : `booked as (insert into spend_by_node (workspace, subject, minute, node, amount)
  select w, subject, minute, me, sum(amount) from (${sources.join(" union all ")})
    as rows (w, subject, minute, me, amount) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (workspace, subject, minute, node) do update set amount = spend_by_node.amount + excluded.amount)`
}
