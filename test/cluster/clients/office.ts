/** What all clients of a workspace share with the workload that they are part of. */
import type { Caller } from "../Caller.ts"
import type { Cluster, Workspace } from "../Cluster.ts"
import type { History } from "../History.ts"

export interface Office {
  readonly cluster: Cluster
  readonly history: History
  readonly workspace: Workspace
  /** The run's name, with which texts and names of its things begin or are told apart. */
  readonly name: string
  /** A namespace that no other run has. */
  readonly namespace: (word: string) => string
  /** A caller with the workspace's key unless another is given. */
  readonly caller: (key?: string) => Caller
  /** Creates something, which must succeed; gives the field of the answer that `at` leads to. */
  readonly create: (caller: Caller, path: string, body: object, ...at: ReadonlyArray<string>) => Promise<string>
  /** An idempotency key, or a number that no other has. */
  readonly next: () => string
  /** The share of submits under an idempotency key. */
  readonly keyed: number
  /** Mean pause of a user between steps. */
  readonly thinkMs: number
  /** Mean pause of who writes memory, spends, asks for approval or appends to feeds, beside pauses of their own. */
  readonly roundMs: number
  /** Whether new work is begun. */
  readonly working: () => boolean
  /** Whether what was begun is still answered, read and followed. */
  readonly reading: () => boolean
}
