/**
 * The text of the one statement that appends (appendStatement.ts): heads first, then each section that a batch has, for
 * those that have won.
 */
import { shared } from "./agenda.ts"

import { telling } from "../webhooks/announcing.ts"

interface Section {
  readonly name: string
  /** The columns of its arrays, in the order of `values`, behind `o`, which all have. */
  readonly columns: ReadonlyArray<readonly [name: string, type: string]>
  readonly with: string
}

const section = (name: string, columns: string, text: string): Section => ({
  name,
  columns: columns.split(" ").map((column) => {
    const [title = "", type = ""] = column.split(":")
    return [title, type]
  }),
  with: text
})

const keptFor = "interval '24 hours'"

const heads = section(
  "h",
  "w:uuid id:uuid me:uuid epoch:int rev:int pos:int seq:int touched:int updated_at:timestamptz since:int " +
    "runnable_at:timestamptz status:text carry:text moved:bool behind:bool",
  ""
)

const moved = section(
  "m",
  "",
  `moved as (update heads t
  set pos = h.pos, seq = h.seq, rev = h.rev + 1, touched = h.touched, updated_at = h.updated_at, since = h.since,
    runnable_at = h.runnable_at, status = h.status, carry = h.carry,
    fruitless = case when h.moved then 0 else t.fruitless end
  from h where h.rev > 0 and t.id = h.id and t.workspace = h.w
    and t.epoch = h.epoch and t.rev = h.rev and t.owner = h.me
    and not (h.behind and exists (select from inbox i where i.actor = h.id))
  returning h.o, h.w, h.id)`
)

// A birth loses to one that came before, and to a live key of its own. Two at the same instant meet in the
// primary key instead (W2): `on conflict` would log every row twice.
const born = (keyed: boolean) =>
  section(
    "b",
    "kind:text parent:uuid attributes:text",
    `inserted as (insert into heads
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
  )

const facts = section(
  "f",
  "pos:int seq:int n:int turn:uuid at:timestamptz once:uuid listed:bool event:text detail:text cause:int",
  `written as (
  insert into facts (actor, at, pos, seq, n, turn, once, workspace, event, detail, cause)
  select won.id, f.at, f.pos, f.seq, f.n, f.turn, f.once, case when f.listed then won.w end, f.event, f.detail,
    f.cause from f
    join won using (o))`
)

// Who has a new moment to be looked at: those of about the same moment share a row (G1, G4 of agenda.ts).
const noting = (name: string, table: string) =>
  section(
    name,
    "owner:uuid at:timestamptz",
    `noted_${name} as (insert into ${table} (owner, at, actors)
  select ${name}.owner, max(${name}.at), array_agg(won.id) from ${name} join won using (o) group by ${name}.owner,
    ${shared(`${name}.at`)})`
  )
const agenda = noting("g", "agenda")
const later = noting("l", "agenda_later")

const inputsPut = section(
  "ip",
  "id:uuid ord:int state:text body:text",
  `put_inputs as (insert into inputs (workspace, actor, id, ord, state, body)
  select won.w, won.id, ip.id, ip.ord, ip.state, ip.body from ip join won using (o)
  on conflict (workspace, actor, id) do update set ord = excluded.ord, state = excluded.state, body = excluded.body)`
)
const inputsDrop = section(
  "dropped",
  "id:uuid",
  `dropped_inputs as (delete from inputs t using dropped join won using (o)
  where t.workspace = won.w and t.actor = won.id and t.id = dropped.id)`
)
const waits = section(
  "wp",
  "id:uuid target:text state:text created_at:timestamptz body:text call:uuid toolset:uuid",
  `put_waits as (insert into waits
    (workspace, actor, id, target, state, created_at, body, call, toolset)
  select won.w, won.id, wp.id, wp.target, wp.state, wp.created_at, wp.body, wp.call, wp.toolset from wp join won using
    (o)
  on conflict (workspace, id) do update set state = excluded.state, body = excluded.body)`
)

// A live key that is there already fails the statement (created_at is not null): its effect must not happen.
const keys = section(
  "k",
  "scope:text fingerprint:text status:int body:text",
  `kept as (insert into idempotency (workspace, scope, created_at, status, fingerprint, body)
  select won.w, k.scope, now(), k.status, k.fingerprint, k.body from k join won using (o)
  on conflict (workspace, scope) do update set status = excluded.status, fingerprint = excluded.fingerprint, body =
    excluded.body,
    created_at = case when idempotency.created_at > now() - ${keptFor} then null else excluded.created_at end)`
)

// Each node has rows of its own, so that none waits for another's commit.
const spend = section("s", "subject:uuid minute:int amount:float8", "")
const booked = (sources: ReadonlyArray<"s" | "settled">) => {
  const rows = {
    s: `select won.w, s.subject, s.minute, h.me, s.amount from s join won using (o) join h using (o)`,
    settled: `select w, subject, minute, me, cost from settled where cut`
  }
  return `booked as (insert into spend_by_node (workspace, subject, minute, node, amount)
  select w, subject, minute, me, sum(amount) from (${sources.map((source) => rows[source]).join(" union all ")})
    as rows (w, subject, minute, me, amount) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (workspace, subject, minute, node) do update set amount = spend_by_node.amount + excluded.amount)`
}

// What was set aside for model calls goes with the facts that tell of them. One that was cut off costs its prompt's price.
const settles = section(
  "st",
  "id:uuid cost:float8 minute:int",
  `settled as (delete from reservations r using st join won using (o) join h using (o)
  where r.workspace = won.w and r.id = st.id
  returning won.w, r.subject, r.threads, st.minute, h.me, st.cost is null as cut, coalesce(st.cost, r.prompt) as cost),
spent_by_threads as (insert into thread_spend (workspace, thread, amount)
  select settled.w, t, sum(settled.cost) from settled, unnest(settled.threads) t group by 1, 2 order by 1, 2
  on conflict (workspace, thread) do update set amount = thread_spend.amount + excluded.amount)`
)

const archives = section(
  "ar",
  "at:timestamptz",
  `archived as (insert into archived_threads (workspace, thread, at) select won.w, won.id, ar.at from ar join won
  using (o) on conflict do nothing)`
)

const announces = section(
  "ev",
  "id:uuid type:text agent:uuid body:text at:timestamptz",
  `told as (select won.w as workspace, ev.id, ev.type, ev.agent, ev.body, ev.at from ev join won using (o)),
${telling("told")}`
)

const inbox = section(
  "x",
  "id:text",
  `accepted as (delete from inbox t using x join won using (o) where t.workspace = won.w and t.id = x.id)`
)

/** Which sections a batch needs, as bits: the variant's name. */
export const bit = {
  moved: 1,
  born: 2,
  facts: 4,
  inputsPut: 8,
  inputsDrop: 16,
  waits: 32,
  keys: 64,
  spend: 128,
  inbox: 256,
  agenda: 512,
  later: 1024,
  settles: 2048,
  archives: 4096,
  announces: 8192
} as const

/** The text of the statement with these sections. */
export const textOf = (mask: number) => {
  const has = (name: keyof typeof bit) => (mask & bit[name]) !== 0
  const winners: Array<Section> = [
    ...(has("facts") ? [facts] : []),
    ...(has("agenda") ? [agenda] : []),
    ...(has("later") ? [later] : []),
    ...(has("inputsPut") ? [inputsPut] : []),
    ...(has("inputsDrop") ? [inputsDrop] : []),
    ...(has("waits") ? [waits] : []),
    ...(has("keys") ? [keys] : []),
    ...(has("settles") ? [settles] : []),
    ...(has("archives") ? [archives] : []),
    ...(has("announces") ? [announces] : []),
    ...(has("spend") ? [spend] : []),
    ...(has("inbox") ? [inbox] : [])
  ]
  const before = [...(has("moved") ? [moved] : []), ...(has("born") ? [born(has("keys"))] : [])]
  let parameter = 0
  // Only the first array becomes rows, the others are read by position: `unnest` of all makes a table of each one
  // first.
  const given = [heads, ...(has("born") ? [born(has("keys"))] : []), ...winners].map(({ name, columns }) => {
    const rows = `unnest($${++parameter}::int[]) with ordinality as given(o, i)`
    return `${name} as (select o,
      ${columns.map(([title, type]) => `($${++parameter}::${type}[])[i] as ${title}`).join(", ")} from ${rows})`
  })
  const winning = (["moved", "born"] as const).filter(has).map((name) => `select o, w, id from ${name}`)
  const won = `won as (${winning.join(" union all ")})`
  const sources = [...(has("spend") ? (["s"] as const) : []), ...(has("settles") ? (["settled"] as const) : [])]
  const parts = [
    ...given,
    ...before.map((part) => part.with),
    won,
    ...winners.flatMap((part) => (part.with === "" ? [] : [part.with])),
    ...(sources.length === 0 ? [] : [booked(sources)])
  ]
  return `with
    ${parts.join(",\n")}\nselect
    o from won`
}
