/** What all clients of a workspace share with the workload that they are part of. */
import type { Caller } from "../Caller.ts"
import type { Cluster, Workspace } from "../Cluster.ts"
import type { History } from "../History.ts"

export interface Office {
  readonly cluster: Cluster
  readonly history: History
  readonly workspace: Workspace
  /** Begins with what no other run says. */
  readonly name: string
  /** A namespace that no other run has. */
  readonly namespace: (word: string) => string
  /** One with the workspace's key, or with another. */
  readonly caller: (key?: string) => Caller
  /** Makes something: the field of its answer. */
  readonly create: (caller: Caller, path: string, body: object, ...at: ReadonlyArray<string>) => Promise<string>
  /** An idempotency key, or a number that no other has. */
  readonly next: () => string
  /** The share of submits under an idempotency key. */
  readonly keyed: number
  /** Mean pause of a user between steps. */
  readonly thinkMs: number
  /** New work is begun. */
  readonly working: () => boolean
  /** What was begun is answered, read and followed, also once no more is begun. */
  readonly reading: () => boolean
}
