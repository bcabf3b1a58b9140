/** What several commands write in one append. */
import type { InputRow } from "../src/journal/Journal.ts"
import type { WriteSet } from "./Kind.ts"

const lastOf = <Row extends { readonly id: string }>(rows: ReadonlyArray<Row>) => [
  ...new Map(rows.map((row) => [row.id, row])).values()
]

/** What several commands write, as one: of a row that several touch, only its last state. */
export const mergeWrites = (all: ReadonlyArray<WriteSet>): WriteSet | undefined => {
  const last = all.at(-1)
  if (last === undefined || all.length === 1) return last
  const put = new Map<string, InputRow>()
  const drop = new Set<string>()
  for (const { inputs } of all) {
    for (const id of inputs?.drop ?? []) {
      drop.add(id)
      put.delete(id)
    }
    for (const row of inputs?.put ?? []) {
      put.set(row.id, row)
      drop.delete(row.id)
    }
  }
  const waits = lastOf(all.flatMap((written) => written.waits ?? []))
  const spends = all.flatMap((written) => written.spent ?? [])
  const settles = all.flatMap((written) => written.settles ?? [])
  const announces = all.flatMap((written) => written.announces ?? [])
  const { announces: _, inputs: __, settles: ___, spent, waits: ____, ...rest } = last
  return {
    ...rest,
    facts: all.flatMap(({ facts }) => facts),
    ...(put.size === 0 && drop.size === 0 ? {} : { inputs: { put: [...put.values()], drop: [...drop] } }),
    ...(waits.length === 0 ? {} : { waits }),
    requiresEmptyInbox: all.some((written) => written.requiresEmptyInbox === true),
    ...(settles.length === 0 ? {} : { settles }),
    ...(announces.length === 0 ? {} : { announces }),
    archives: all.some((written) => written.archives === true),
    ...(spends[0] === undefined
      ? {}
      : { spent: { ...spends[0], amount: spends.reduce((sum, { amount }) => sum + amount, 0) } })
  }
}
