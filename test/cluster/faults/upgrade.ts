/** Two versions side by side, as during every rolling upgrade and its rollback. */
import { resolve } from "node:path"
import { checkOut, git } from "../../../bench/checkout.ts"
import type { Fault } from "../experiment.ts"
import { handOver, moment } from "./nodes.ts"

const here = resolve(import.meta.dirname, "../../..")
/** How long two versions share the work, each time. */
const togetherMs = 6_000

export const versionsName = "rollback of all nodes to an older version, one by one, and their upgrade again"

/** All nodes go back to `commit` one by one under load, and then forth again. */
export const versions = (commit: string): Fault => ({
  name: versionsName,
  bar: "no violation; longest silence ≤ 2 s; no request fails after one retry",
  inject: async ({ cluster, sleep }) => {
    const { folder, remove } = checkOut(commit)
    try {
      const from = await moment(cluster)
      const codes: Array<unknown> = []
      for (const checkout of [folder, here]) {
        for (const node of cluster.nodes) {
          codes.push(await node.leave())
          node.checkout = checkout
          await node.start()
          await sleep(togetherMs)
        }
      }
      const to = await moment(cluster)
      return (run) => handOver(run, from, to, codes.every((code) => code === 0) ? `${codes.length} nodes left and came, with ${git("rev-parse", "--short", commit)}` : undefined)
    } finally {
      for (const node of cluster.nodes) node.checkout = here
      remove()
    }
  }
})
