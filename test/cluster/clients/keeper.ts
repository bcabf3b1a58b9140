/**
 * Clients that compare and set entries of the workspace's memory.
 *
 * J7. Of those who have compared with one version one has written, and the versions of an entry are one chain.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import type { Cluster } from "../Cluster.ts"
import type { History } from "../History.ts"
import type { Office } from "./office.ts"

/** Entries of a workspace that all its keepers write. */
const entries = 3
const prefix = "kept by"

export const keepMemory = async ({ history, name, working, workspace, ...office }: Office) => {
  const caller = office.caller()
  const { random } = caller
  while (working()) {
    const key = `${prefix} ${name}/${Math.floor(random() * entries)}`
    const path = `/v1/memory/entry?key=${encodeURIComponent(key)}`
    const seen = await caller.ask("GET", path)
    if (seen === undefined) continue
    const expectedVersion = seen.status === 404 ? "none" : field(seen.body, "entry", "version")
    // Others have seen the same.
    await sleep(random() * 100)
    const value = `${workspace.canary} ${office.next()}`
    const put = await caller.ask("PUT", path, { value, expectedVersion })
    if (put !== undefined && put.status < 300)
      history.writes.push({
        what: `${workspace.id} ${key}`,
        expectedVersion,
        version: field(put.body, "entry", "version")
      })
    await sleep(random() * 200 + random() * 2 * office.roundMs)
  }
}

export const forkedMemory = async ({ pool }: Cluster, { writes }: History): Promise<ReadonlyArray<string>> => {
  const twice = [...Map.groupBy(writes, ({ expectedVersion, what }) => `${what} after ${expectedVersion}`)].flatMap(
    ([what, all]) => (all.length > 1 ? [`J7: ${all.length} have written ${what}`] : [])
  )
  const { rows } = await pool.query<{ key: string; times: number }>(
    `select key, count(*)::int as times from memory_versions where key like '${prefix} %' group by workspace, store, key,
      previous having count(*) > 1`
  )
  return [...twice, ...rows.map(({ key, times }) => `J7: ${times} versions of ${key} follow one`)]
}
