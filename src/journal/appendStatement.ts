/**
 * The one statement that appends for many actors (J1): heads first, then everything of the winners.
 *
 * A batch brings arrays, a row's `o` saying which append it belongs to. What a batch does not need is
 * not in the text: each combination of sections is a prepared statement of its own.
 */
import type { Statement } from "../database/Database.ts"
import { booleans, floats, ints, moments, places, texts, uuids } from "../database/parameters.ts"
import { nearMs } from "./agenda.ts"
import { bit, textOf } from "./appendText.ts"
import type { Append } from "./Journal.ts"
import { short } from "../database/shorthand.ts"
import { storedDetail, storedEvent } from "./storedFact.ts"

/** An append with the incarnation that owned the actor when it was asked for. */
export interface OwnedAppend extends Append {
  readonly owner: string
}

const variants = new Map<number, string>()

const minuteOf = (ms: number) => Math.floor(ms / 60_000)

/** A row of a section, and which append it belongs to. */
interface Row<A> {
  readonly o: number
  readonly of: A
}

const rowsOf = <A, B>(appends: ReadonlyArray<A>, pick: (append: A) => ReadonlyArray<B> | undefined): Array<Row<B>> => {
  const rows: Array<Row<B>> = []
  for (let o = 0; o < appends.length; o++) {
    const picked = pick(appends[o]!)
    if (picked !== undefined) for (const of of picked) rows.push({ o, of })
  }
  return rows
}

const factRows = (append: Append) => {
  const { facts, head } = append
  let pos = head.pos - facts.length
  let seq = head.seq
  for (const fact of facts) if (fact.public) seq--
  return facts.map((fact) => ({ fact, pos: ++pos, seq: fact.public ? ++seq : null }))
}

/** The statement for these appends; its rows say by `o`, the place in the array, which have won. */
export const appendStatement = (appends: ReadonlyArray<OwnedAppend>): Statement => {
  const order = (rows: ReadonlyArray<Row<unknown>>) => ints(rows, ({ o }) => o)
  let mask = 0
  const values: Array<unknown> = [
    places(appends),
    uuids(appends, (a) => a.actor.workspace),
    uuids(appends, (a) => a.actor.id),
    uuids(appends, (a) => a.owner),
    ints(appends, (a) => a.epoch),
    ints(appends, (a) => a.rev),
    ints(appends, (a) => a.head.pos),
    ints(appends, (a) => a.head.seq),
    ints(appends, (a) => minuteOf(a.head.updatedAt)),
    moments(appends, (a) => a.head.updatedAt),
    ints(appends, (a) => a.head.since),
    moments(appends, (a) => a.head.runnableAt),
    texts(appends, (a) => a.head.status),
    texts(appends, (a) => short(a.head.carry)),
    booleans(appends, (a) => a.facts.length > 0),
    booleans(appends, (a) => a.requiresEmptyInbox === true)
  ]
  if (appends.some((a) => a.birth === undefined)) mask |= bit.moved

  const births = rowsOf(appends, (a) => (a.birth === undefined ? undefined : [{ ...a.birth, actor: a.actor }]))
  if (births.length > 0) {
    mask |= bit.born
    values.push(
      order(births),
      texts(births, ({ of: b }) => b.actor.kind),
      uuids(births, ({ of: b }) => b.parent),
      texts(births, ({ of: b }) => short(b.attributes))
    )
  }

  const written = rowsOf(appends, (a) => (a.facts.length === 0 ? undefined : factRows(a)))
  if (written.length > 0) {
    mask |= bit.facts
    values.push(
      order(written),
      ints(written, ({ of: f }) => f.pos),
      ints(written, ({ of: f }) => f.seq),
      ints(written, ({ of: f }) => f.fact.n),
      uuids(written, ({ of: f }) => f.fact.turn),
      moments(written, ({ of: f }) => f.fact.at),
      uuids(written, ({ of: f }) => f.fact.once),
      booleans(written, ({ of: f }) => f.fact.listed === true),
      texts(written, ({ of: f }) => storedEvent(f.fact)),
      texts(written, ({ of: f }) => storedDetail(f.fact)),
      ints(written, ({ of: f }) => f.fact.cause ?? null)
    )
  }

  const wakes = rowsOf(appends, ({ head, owner, wakes }) =>
    wakes === undefined ? undefined : [{ owner, at: wakes, near: wakes <= head.updatedAt + nearMs }]
  )
  for (const [section, noted] of [
    [bit.agenda, wakes.filter(({ of }) => of.near)],
    [bit.later, wakes.filter(({ of }) => !of.near)]
  ] as const) {
    if (noted.length === 0) continue
    mask |= section
    values.push(
      order(noted),
      uuids(noted, ({ of }) => of.owner),
      moments(noted, ({ of }) => of.at)
    )
  }

  const inputsPut = rowsOf(appends, (a) => a.inputs?.put)
  if (inputsPut.length > 0) {
    mask |= bit.inputsPut
    values.push(
      order(inputsPut),
      uuids(inputsPut, ({ of: r }) => r.id),
      ints(inputsPut, ({ of: r }) => r.ord),
      texts(inputsPut, ({ of: r }) => r.state),
      texts(inputsPut, ({ of: r }) => r.body)
    )
  }
  const inputsDrop = rowsOf(appends, (a) => a.inputs?.drop)
  if (inputsDrop.length > 0) {
    mask |= bit.inputsDrop
    values.push(
      order(inputsDrop),
      uuids(inputsDrop, ({ of: id }) => id)
    )
  }

  const waiting = rowsOf(appends, (a) => a.waits)
  if (waiting.length > 0) {
    mask |= bit.waits
    values.push(
      order(waiting),
      uuids(waiting, ({ of: r }) => r.id),
      texts(waiting, ({ of: r }) => r.target),
      texts(waiting, ({ of: r }) => r.state),
      moments(waiting, ({ of: r }) => r.createdAt),
      texts(waiting, ({ of: r }) => r.body),
      uuids(waiting, ({ of: r }) => r.call?.id ?? null),
      uuids(waiting, ({ of: r }) => r.call?.toolset ?? null)
    )
  }

  const keys = rowsOf(appends, (a) => a.keys)
  if (keys.length > 0) {
    mask |= bit.keys
    values.push(
      order(keys),
      texts(keys, ({ of: k }) => k.scope),
      texts(keys, ({ of: k }) => k.fingerprint),
      ints(keys, ({ of: k }) => k.status),
      texts(keys, ({ of: k }) => k.body)
    )
  }

  const settled = rowsOf(appends, ({ head, settles }) =>
    settles?.map((of) => ({ ...of, minute: minuteOf(head.updatedAt) }))
  )
  if (settled.length > 0) {
    mask |= bit.settles
    values.push(
      order(settled),
      uuids(settled, ({ of }) => of.id),
      floats(settled, ({ of }) => of.cost ?? null),
      ints(settled, ({ of }) => of.minute)
    )
  }

  const archived = rowsOf(appends, (a) => (a.archives === true ? [a.head.updatedAt] : undefined))
  if (archived.length > 0) {
    mask |= bit.archives
    values.push(
      order(archived),
      moments(archived, ({ of: at }) => at)
    )
  }

  const announced = rowsOf(appends, (a) => a.announces)
  if (announced.length > 0) {
    mask |= bit.announces
    values.push(
      order(announced),
      uuids(announced, ({ of }) => of.id),
      texts(announced, ({ of }) => of.type),
      uuids(announced, ({ of }) => of.agentId ?? null),
      texts(announced, ({ of }) => of.body),
      moments(announced, ({ of }) => of.at)
    )
  }

  const spent = rowsOf(appends, (a) =>
    a.spent === undefined ? undefined : [{ ...a.spent, minute: minuteOf(a.head.updatedAt) }]
  )
  if (spent.length > 0) {
    mask |= bit.spend
    values.push(
      order(spent),
      uuids(spent, ({ of: s }) => s.subject),
      ints(spent, ({ of: s }) => s.minute),
      floats(spent, ({ of: s }) => s.amount)
    )
  }

  const accepted = rowsOf(appends, (a) => a.accepted)
  if (accepted.length > 0) {
    mask |= bit.inbox
    values.push(
      order(accepted),
      texts(accepted, ({ of: id }) => id)
    )
  }

  let text = variants.get(mask)
  if (text === undefined) {
    text = textOf(mask)
    variants.set(mask, text)
  }
  return { name: `append ${mask}`, text, values }
}

/** Characters of its texts, about. */
export const sizeOf = ({ birth, facts, head, inputs, keys, waits }: Append) => {
  let size = head.carry.length + (birth?.attributes.length ?? 0)
  for (const { detail, event } of facts) size += event.length + (detail?.length ?? 0)
  for (const rows of [inputs?.put, keys, waits])
    if (rows !== undefined) for (const { body } of rows) size += body.length
  return size
}

/** Sorted, so that two nodes take their locks in the same order. */
export const byActor = (a: Append, b: Append) => (a.actor.id < b.actor.id ? -1 : a.actor.id > b.actor.id ? 1 : 0)
