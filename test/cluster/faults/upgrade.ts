/** Two versions side by side, as during every rolling upgrade and its rollback. */
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { Checkout } from "../../../bench/checkout.ts"
import type { Cluster } from "../Cluster.ts"
import type { Fault } from "../experiment.ts"
import { nominalLoad } from "../workload.ts"
import { betweenMs, deployment } from "./nodes.ts"

const here = resolve(import.meta.dirname, "../../..")
export const versionsName = "rollback of all nodes to an older version, one by one, and their upgrade again"

/** Of this version or of an older one, which kept them in another place. */
const migrationsOf = async (folder: string) => {
  const places = ["src/database/migrations", "src/store/migrations"].map((place) => join(folder, place))
  const place = places.find((at) => existsSync(at))
  if (place === undefined) throw new Error(`no migrations in ${folder}`)
  return (await readdir(place)).flatMap((name) => /^(\d{3}_\w+)\.ts$/.exec(name)?.[1] ?? [])
}

/**
 * What docs/operations.md has an operator do before a rollback: the older version is not refused for tables that it
 * does not know.
 */
const admit = async (cluster: Cluster, folder: string) => {
  const known = new Set(await migrationsOf(folder))
  const newer = (await migrationsOf(here)).filter((name) => !known.has(name))
  await cluster.pool.query("delete from kysely_migration where name = any($1::text[])", [newer])
}

/** And once the last node of this version has gone: moments that only this version looks at. */
const handBackMoments = (cluster: Cluster) =>
  cluster.pool.query(
    "with later as (delete from agenda_later returning at, actors) insert into agenda (at, actors) select at, actors from later"
  )

/** All nodes go back to the version that is checked out there one by one under load, and then forth again. */
export const versions = ({ commit, folder }: Checkout): Fault => ({
  // What is governed is this version's: an older one does not know all of it.
  workload: { ...nominalLoad, governed: false },
  // A node of an older version that leaves may say of a call that it never started that it was lost with its node.
  excuses: /^L[23]:/,
  name: versionsName,
  bar: "no violation; longest silence ≤ 2 s; no request fails after one retry; ≥ 10 submits a second",
  inject: async ({ cluster, sleep }) => {
    try {
      const { end, leave } = await deployment(cluster)
      await admit(cluster, folder)
      for (const checkout of [folder, here]) {
        for (const node of cluster.nodes) {
          await leave(node)
          node.checkout = checkout
          await node.start()
          // Two versions share the work meanwhile.
          await sleep(betweenMs)
        }
        if (checkout === folder) await handBackMoments(cluster)
      }
      return await end(`${2 * cluster.nodes.length} nodes left and came, with ${commit}`)
    } finally {
      for (const node of cluster.nodes) node.checkout = here
    }
  }
})
