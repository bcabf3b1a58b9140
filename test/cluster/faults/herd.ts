/** A node dies under two thousand running turns: what it had is taken up, and read, all at once. */
import { field } from "../../../src/cli/client.ts"
import { fromUuid } from "../../../src/domain/ids.ts"
import type { Fault } from "../experiment.ts"
import { Herd, herdSize } from "../Herd.ts"
import { databaseNow, quantile, takeoversFrom } from "../measures.ts"
import { extraCalls, some } from "./bars.ts"

const patienceMs = 60_000

export const herd: Fault = {
  name: `kill -9 of a node under ${herdSize.toLocaleString("en")} running turns of 100 events each`,
  bar: "all end, no turn_failed internal, ≤ 1 extra model call a thread; takeover p99 ≤ 15 s",
  own: {},
  clients: (cluster, seed) => new Herd(cluster, seed),
  inject: async ({ cluster, history, random, sleep }) => {
    const node = some(cluster.pick(random))
    const { rows: owned } = await cluster.pool.query<{ id: string }>(
      `select h.id from heads h join audit.nodes a on a.incarnation = h.owner and a.what = 'join' where a.writer = $1 and h.kind = 'thread' and h.status = 'running'`,
      [node.name]
    )
    const {
      rows: [events]
    } = await cluster.pool.query<{ least: number }>(
      "select min(seq) as least from heads where kind = 'thread' and status = 'running'"
    )
    const labels = owned.flatMap(({ id }) => history.threads.get(fromUuid("thread", id))?.sent[0]?.label ?? [])
    const asked = cluster.models.calls.length
    const since = await databaseNow(cluster)
    const killedAt = performance.now()
    await node.kill()
    /** When a model was asked again for each thread: its turn goes on. */
    const goesOn = () => new Map(cluster.models.calls.slice(asked).map(({ began, label }) => [label, began - killedAt]))
    for (
      const until = killedAt + patienceMs;
      performance.now() < until && labels.some((label) => !goesOn().has(label));
    )
      await sleep(250)
    const found = goesOn()
    const times = labels.flatMap((label) => found.get(label) ?? [])
    await node.start()
    return async (run) => {
      const taken = takeoversFrom(run.audit, node)
      const { rows: failed } = await cluster.pool.query<{ event: string }>(
        `select readable(event)::text as event from facts where at >= to_timestamp($1::float8 / 1000) and event like '%"failureCode"%' and event like '%internal%'`,
        [since]
      )
      return {
        gaps: times,
        observed:
          taken > 0 ? `${taken} threads taken from ${node.name}, each of ${events?.least} events or more` : undefined,
        figures: [
          { name: "takeover p99", value: quantile(times, 0.99), bar: 15_000, unit: "ms" },
          { name: "turns that did not go on within a minute", value: labels.length - times.length, bar: 0, unit: "" },
          {
            name: "turns that failed for our reasons",
            value: failed.filter(({ event }) => field(JSON.parse(event), "failureCode") === "internal").length,
            bar: 0,
            unit: ""
          },
          extraCalls(run, 1)
        ]
      }
    }
  }
}
