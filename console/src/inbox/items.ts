/** What waits for a person or a client, as the inbox shows it: oldest need first, the asked threads under who asked. */
import type { components } from "../../../src/client/types.ts"
import { bornAt } from "../parts/born.ts"

export type Thread = components["schemas"]["ThreadSummary"]
export type Wait = components["schemas"]["PendingWait"]
export type Operation = components["schemas"]["Operation"]

export type Item =
  | { readonly kind: "wait"; readonly id: string; readonly since: number; readonly thread: Thread; readonly wait: Wait }
  | { readonly kind: "operation"; readonly id: string; readonly since: number; readonly operation: Operation }

/** An item, and how many threads stand above its own within the group. */
export interface Row {
  readonly item: Item
  readonly depth: number
}

/** An operation, or what waits in a thread and in those that it has asked for. */
export interface Group {
  /** Of the thread on top, or of the operation. */
  readonly id: string
  /** Nothing waits in the thread on top: it has only asked for the others. */
  readonly hasOnlyAsked: boolean
  /** At least one: what waits in a thread, then what waits in those that it has asked for. */
  readonly rows: ReadonlyArray<Row>
}

/** The thread that asked for this one, or that this one judges for. */
export const askerOf = ({ thread: { askedBy, reviews } }: Pick<Thread, "thread">): string | undefined =>
  (askedBy ?? reviews)?.threadId

const isOlder = (one: { readonly since: number }, other: { readonly since: number }) => one.since - other.since

export const itemsOf = (threads: ReadonlyArray<Thread>, operations: ReadonlyArray<Operation>): ReadonlyArray<Item> => [
  ...threads.flatMap((thread) =>
    thread.pendingWaits
      .filter(({ target }) => target === "person" || target === "client")
      .map((wait) => ({ kind: "wait" as const, id: wait.id, since: bornAt(wait.id) ?? 0, thread, wait }))
  ),
  ...operations.map((operation) => ({
    kind: "operation" as const,
    id: operation.id,
    since: Date.parse(operation.createdAt),
    operation
  }))
]

/** Oldest need first: a group stands where its oldest item would. Under a thread stand those that it has asked for. */
export const groupsOf = (items: ReadonlyArray<Item>): ReadonlyArray<Group> => {
  /** By thread, and of operations by their own id. */
  const own = Map.groupBy(items.toSorted(isOlder), (item) => (item.kind === "wait" ? item.thread.thread.id : item.id))
  const askers = new Map(
    [...own].map(([id, [item]]) => [id, item?.kind === "wait" ? askerOf(item.thread) : undefined] as const)
  )
  const askedBy = Map.groupBy(own.keys(), (id) => askers.get(id))
  const rowsUnder = (id: string, depth: number): ReadonlyArray<Row> => [
    ...(own.get(id) ?? []).map((item) => ({ item, depth })),
    ...(askedBy.get(id) ?? []).flatMap((asked) => rowsUnder(asked, depth + 1))
  ]
  const tops = new Set([...own.keys()].map((id) => topOf(id, askers)))
  return [...tops]
    .map((id) => ({ id, hasOnlyAsked: !own.has(id), rows: rowsUnder(id, 0) }))
    .toSorted((one, other) => oldestOf(one) - oldestOf(other))
}

/** As far up as the inbox knows who asked. */
const topOf = (id: string, askers: ReadonlyMap<string, string | undefined>): string => {
  const asker = askers.get(id)
  return asker === undefined ? id : topOf(asker, askers)
}

const oldestOf = ({ rows }: Group) => Math.min(...rows.map(({ item }) => item.since))
