/**
 * What a workspace may have: every quota with its default, in one table.
 *
 * Rows of the configuration are counted where one more is made. Threads and bytes are gathered: each node counts its
 * own and hears of the others' a second later, since a birth must not wait for a row that all share.
 */
import { limits } from "../domain/limits.ts"

const GiB = 1024 ** 3

/** Archived, revoked and deleted rows do not count. */
export const countedLimits = {
  agents: 10_000,
  connections: 1_000,
  keys: 1_000,
  roles: limits.rolesPerWorkspace,
  toolsets: 1_000
} as const
/** Threads that are not archived, and bytes stored within 24 hours. */
export const gatheredLimits = { stored_bytes: 10 * GiB, threads: 10_000_000 } as const

export type Counted = keyof typeof countedLimits
export type Gathered = keyof typeof gatheredLimits
export type Resource = Counted | Gathered

export const usualLimits: Readonly<Record<Resource, number>> = { ...countedLimits, ...gatheredLimits }

const isResource = (name: string): name is Resource => Object.hasOwn(usualLimits, name)

export const resources: ReadonlyArray<Resource> = Object.keys(usualLimits).filter(isResource).toSorted()

/** Quotas that an operator may set: the number of roles is not theirs (contract C5.7). */
export const settable: ReadonlyArray<Resource> = resources.filter((resource) => resource !== "roles")
