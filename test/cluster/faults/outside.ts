/** What happens to those that nodes call: model providers and tool servers. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Cluster } from "../Cluster.ts"
import type { Fault } from "../experiment.ts"

/** Calls that nobody waits for are counted by the node as jobs. */
const jobsAtRest = async ({ nodes }: Cluster) => {
  // The gauge is set every few seconds.
  for (const until = performance.now() + 12_000; ; await sleep(500)) {
    const counts = await Promise.all(nodes.map((node) => node.metric("troupe_jobs_running")))
    const sum = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    if (sum === 0 || performance.now() > until) return sum
  }
}

export const providerTrouble: Fault = {
  name: "the model provider hangs for 8 s, then answers 429 for 8 s",
  bar: "every turn ends; no call is left over",
  inject: async ({ cluster, sleep }) => {
    const { models } = cluster
    models.trouble = "hang"
    await sleep(8_000)
    const hung = models.hung
    models.trouble = "429"
    await sleep(8_000)
    models.trouble = undefined
    const refused = models.refused
    return async () => ({
      gaps: [],
      observed: hung > 0 && refused > 0 ? `${hung} calls hung, ${refused} were answered 429` : undefined,
      figures: [{ name: "jobs at rest", value: await jobsAtRest(cluster), bar: 0, unit: "" }]
    })
  }
}

export const toolServerGone: Fault = {
  name: "the tool server is gone for 10 s",
  bar: "every call has its result, every turn ends; no call is left over",
  inject: async ({ cluster, sleep }) => {
    cluster.toTools.counted.resets = 0
    cluster.toTools.reset(true)
    await sleep(10_000)
    const { resets } = cluster.toTools.counted
    cluster.toTools.heal()
    await sleep(1_000)
    return async () => ({
      gaps: [],
      observed: resets > 0 ? `${resets} connections reset` : undefined,
      figures: [{ name: "jobs at rest", value: await jobsAtRest(cluster), bar: 0, unit: "" }]
    })
  }
}
