/**
 * When identities were last seen, gathered in memory and written in batches: a sight must not cost
 * the request that it comes from a statement. One lost with its process is made good by the next.
 */
import type { seeIdentities } from "./rows.ts"

type Sight = Parameters<typeof seeIdentities>[1][number]

/** One identity is noted at most this often. */
const noteEveryMs = 60_000
const remembered = 10_000

export const makeSightings = (now: () => number) => {
  const noted = new Map<string, number>()
  let pending: Array<Sight> = []

  return {
    /** A look-up in a Map, nearly always. */
    note: (workspace: string, identity: string) => {
      const key = workspace + identity
      const at = now()
      const last = noted.get(key)
      if (last !== undefined && at - last < noteEveryMs) return
      if (noted.size >= remembered) noted.clear()
      noted.set(key, at)
      pending.push({ workspace, identity, at })
    },
    /**
     * What is to be written, each identity once and in the same order on every node, so that no two writers lock
     * crosswise.
     */
    take: (): ReadonlyArray<Sight> => {
      const batch = new Map(pending.map((sight) => [sight.workspace + sight.identity, sight]))
      pending = []
      return [...batch].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sight]) => sight)
    }
  }
}
