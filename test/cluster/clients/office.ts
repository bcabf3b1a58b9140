/** What clients of a workspace's own kind of work share with the workload that they are part of. */
import type { Caller } from "../Caller.ts"
import type { Cluster, Workspace } from "../Cluster.ts"
import type { History } from "../History.ts"

export interface Office {
  readonly cluster: Cluster
  readonly history: History
  readonly workspace: Workspace
  /** Begins with what no other run says. */
  readonly name: string
  /** One with the workspace's key, or with another. */
  readonly caller: (key?: string) => Caller
  /** Makes something: the field of its answer. */
  readonly create: (caller: Caller, path: string, body: object, ...at: ReadonlyArray<string>) => Promise<string>
  /** An idempotency key, or a number that no other has. */
  readonly next: () => string
  /** New work is begun. */
  readonly working: () => boolean
}
