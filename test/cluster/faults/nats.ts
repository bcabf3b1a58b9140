/** What happens to NATS, and on the way to it. */
import { field } from "../../../src/cli/client.ts"
import type { Cluster } from "../Cluster.ts"
import type { Fault, RunData } from "../experiment.ts"
import { pickups, quantile } from "../measures.ts"
import type { Node } from "../Node.ts"
import { some } from "./bars.ts"

const pickupBar = (run: RunData, from: number, to: number, bar: number, name: string) =>
  ({ name, value: quantile(pickups(run.history, run.verdict.admitted, from, to), 0.99), bar, unit: "ms" }) as const

const lostSubmits = ({ history }: RunData, from: number, to: number) =>
  ({
    name: "submits not acknowledged",
    value: history.requests.filter(({ began, lost, submit }) => submit && lost && began >= from && began <= to).length,
    bar: 0,
    unit: ""
  }) as const

/** What the probes of a node say of the bus; undefined where it does not answer. */
const askBus = async (node: Node) => {
  try {
    const response = await fetch(`${node.base}/readyz`, { signal: AbortSignal.timeout(1_000) })
    return field(await response.json(), "bus")
  } catch {
    return undefined
  }
}

/** What the first node says that answers: another fault may have stopped some. */
const busOf = async (nodes: ReadonlyArray<Node>) => {
  for (const node of nodes) {
    const said = await askBus(node)
    if (said !== undefined) return said
  }
  throw new Error("no node answers its probe")
}

const natsOf = ({ nats }: Cluster) => {
  if (nats === undefined) throw new Error("this fault needs NATS: run it without --no-nats")
  return nats
}

export const natsDown: Fault = {
  name: "NATS killed for 10 s",
  bar: "submits still acknowledged, pickup p99 ≤ 2.5 s",
  inject: async ({ cluster, sleep }) => {
    const nats = natsOf(cluster)
    const before = await busOf(cluster.nodes)
    await nats.kill()
    const from = performance.now()
    await sleep(5_000)
    const during = await busOf(cluster.nodes)
    await sleep(5_000)
    await nats.again()
    const to = performance.now()
    await sleep(8_000)
    const after = await busOf(cluster.nodes)
    return (run) => ({
      gaps: [],
      observed: before !== during ? `the bus was ${before}, ${during}, ${after}` : undefined,
      figures: [
        lostSubmits(run, from, to),
        pickupBar(run, from, to, 2_500, "pickup p99 without NATS"),
        pickupBar(run, to + 5_000, Infinity, 2_500, "pickup p99 after")
      ]
    })
  }
}

export const natsCut: Fault = {
  name: "NATS unreachable from one node for 12 s",
  bar: "no takeover; pickup p99 ≤ 2.5 s",
  inject: async ({ cluster, random, sleep }) => {
    natsOf(cluster)
    const node = some(cluster.pick(random))
    const { nats } = node.options
    if (nats === undefined) throw new Error("no proxy")
    nats.counted.held = 0
    nats.hold()
    const from = performance.now()
    await sleep(12_000)
    const held = nats.counted.held
    nats.heal()
    const to = performance.now()
    await sleep(3_000)
    return (run) => ({
      gaps: [],
      observed: held > 0 ? `${held} messages held` : undefined,
      figures: [
        { name: "takeovers", value: run.verdict.takeovers, bar: 0, unit: "" },
        lostSubmits(run, from, to),
        pickupBar(run, from, to, 2_500, "pickup p99")
      ]
    })
  }
}
