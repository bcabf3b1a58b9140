/** Clocks that jump. */
import { writeFile } from "node:fs/promises"
import { join as inFolder } from "node:path"
import { mark } from "../audit.ts"
import type { Fault } from "../experiment.ts"
import { databaseNow } from "../measures.ts"
import { jumping } from "../faketime.ts"
import { some } from "./bars.ts"

export const clockJump: Fault = {
  name: "the wall clock of one node jumps by 2 h forth, then 4 h back",
  bar: "no takeover",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const file = inFolder(cluster.folder, "faketime")
    await writeFile(file, "+0\n")
    await node.leave()
    await node.start(jumping(file))
    await sleep(3_000)
    const before = await mark(cluster.pool)
    const skew = async () => {
      const response = await fetch(`${node.base}/healthz`)
      return Math.round((Date.parse(response.headers.get("date") ?? "") - Date.now()) / 3_600_000)
    }
    const seen: Array<number> = []
    for (const jump of ["+2h", "-2h"]) {
      await writeFile(file, `${jump}\n`)
      await sleep(5_000)
      seen.push(await skew())
    }
    const after = await mark(cluster.pool)
    await node.leave()
    await node.start()
    return ({ audit }) => ({
      gaps: [],
      observed: seen.join() === "2,-2" ? `${node.name} was ${seen.join(" h, then ")} h off` : undefined,
      figures: [
        {
          name: "takeovers",
          bar: 0,
          unit: "",
          value: audit.heads.filter(
            (change) =>
              change.lapsed === true &&
              BigInt(change.n) > BigInt(before.heads) &&
              BigInt(change.n) <= BigInt(after.heads)
          ).length
        }
      ]
    })
  }
}

export const databaseClock: Fault = {
  name: "the database's clock jumps by 1 h",
  bar: "first new event ≤ 5 s after it; every node joins at most once anew; no timer early or twice (J10, J5)",
  own: { fakeTime: true },
  inject: async ({ cluster, sleep }) => {
    const before = await mark(cluster.pool)
    const from = await databaseNow(cluster)
    await cluster.postgres.jump("+3600")
    const to = await databaseNow(cluster)
    await sleep(10_000)
    const {
      rows: [joined]
    } = await cluster.pool.query<{ n: number }>(
      "select count(*)::int as n from audit.nodes where what = 'join' and n > $1",
      [before.nodes]
    )
    return ({ audit }) => {
      const first = audit.heads.find((change) => change.at >= to && change.rev_after !== change.rev_before)
      return {
        gaps: [],
        observed:
          to - from > 3_500_000
            ? `its clock went from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`
            : undefined,
        figures: [
          { name: "first new event", value: first === undefined ? undefined : first.at - to, bar: 5_000, unit: "ms" },
          { name: "nodes that joined anew", value: joined?.n, bar: cluster.nodes.length, unit: "" }
        ]
      }
    }
  }
}
