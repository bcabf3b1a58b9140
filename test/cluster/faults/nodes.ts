/** What happens to nodes: death, stops, deployments, one more. */
import { field } from "../../../src/cli/client.ts"
import { fromUuid, toUuid } from "../../../src/domain/ids.ts"
import type { Audit } from "../audit.ts"
import type { Cluster } from "../Cluster.ts"
import type { Aftermath, Fault, RunData, Scene } from "../experiment.ts"
import type { History } from "../History.ts"
import type { Node } from "../Node.ts"
import {
  databaseNow,
  isMeasured,
  longestGaps,
  quantile,
  storyOf,
  strained,
  takeoverGaps,
  takeoversFrom,
  unfinishedOf
} from "../measures.ts"
import { nominalLoad } from "../workload.ts"
import { extraCalls, inFlight, some, takeover } from "./bars.ts"

export const kill: Fault = {
  name: "kill -9 of a node",
  bar: "next event p50 ≤ 4 s, max ≤ 6 s; ≤ 1 extra model call a thread",
  inject: async ({ cluster, history, random, sleep }) => {
    const node = some(cluster.pick(random))
    await node.kill()
    const since = await databaseNow(cluster)
    await sleep(inFlight)
    const threads = await unfinishedOf(cluster, node, history)
    await sleep(cluster.ttlMs + 4_000)
    await node.start()
    return (run) => {
      const gaps = takeoverGaps(run.audit, threads, node, since)
      return {
        gaps,
        figures: [...takeover(gaps, 4_000, 6_000), extraCalls(run, 1)],
        observed:
          takeoversFrom(run.audit, node) > 0
            ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}`
            : undefined
      }
    }
  }
}

export const stop: Fault = {
  name: "SIGSTOP 10 s, then SIGCONT",
  bar: "next event max ≤ 6 s; nothing accepted from the zombie (A2), quiet ≤ 1 s after; ≤ 1 extra model call a thread",
  inject: async ({ cluster, history, random, sleep }) => {
    const node = some(cluster.pick(random))
    const refusedBefore = (await node.metric("troupe_journal_appends_refused_total")) ?? 0
    node.pause()
    node.up = false
    const since = await databaseNow(cluster)
    await sleep(inFlight)
    const threads = await unfinishedOf(cluster, node, history)
    await sleep(10_000 - inFlight)
    const resumed = performance.now()
    node.go()
    await sleep(1_500)
    node.up = true
    const refused = ((await node.metric("troupe_journal_appends_refused_total")) ?? 0) - refusedBefore
    return (run) => {
      const gaps = takeoverGaps(run.audit, threads, node, since)
      const stale = cluster.models.calls.filter((call) => call.node === node.name && call.began < resumed - 9_000)
      const quiet = Math.max(0, ...stale.map(({ over = Infinity }) => over - resumed))
      return {
        gaps,
        figures: [
          ...takeover(gaps, 6_000, 6_000),
          extraCalls(run, 1),
          { name: "zombie quiet after", value: quiet, bar: 1_000, unit: "ms" }
        ],
        observed:
          takeoversFrom(run.audit, node) > 0
            ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}, ${refused} stale appends refused`
            : undefined
      }
    }
  }
}

export const shortStop: Fault = {
  name: "SIGSTOP 2 s (less than the TTL)",
  bar: "no takeover, no extra model call",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    node.pause()
    const answers = node.ready()
    await sleep(2_000)
    node.go()
    const silent = !(await answers)
    await sleep(3_000)
    return (run) => ({
      gaps: [],
      observed: silent ? `${node.name} did not answer` : undefined,
      figures: [{ name: "takeovers", value: takeoversFrom(run.audit, node), bar: 0, unit: "" }, extraCalls(run, 0)]
    })
  }
}

const longestSilenceMs = 2_000

/** A moment of the database's clock and of this process's own, both in milliseconds. */
const moment = async (cluster: Cluster) => ({ wall: await databaseNow(cluster), at: performance.now() })

/** How many threads whose silence is measured got another owner between two moments of the database's clock. */
const claimed = ({ heads }: Audit, { threads }: History, from: number, to: number) => {
  const measured = new Set([...threads.values()].filter(isMeasured).map(({ threadId }) => toUuid(threadId)))
  // Whoever gives an actor back leaves it without an owner first.
  const last = new Map<string, string>()
  const moved = new Set<string>()
  for (const { actor, at, owner_after, owner_before } of heads) {
    const owner = owner_before ?? last.get(actor)
    if (owner_after === null) {
      if (owner !== undefined) last.set(actor, owner)
      continue
    }
    last.set(actor, owner_after)
    if (owner !== undefined && owner !== owner_after && at >= from && at <= to && measured.has(actor)) moved.add(actor)
  }
  return moved.size
}

/** Submits a second in that time: a cluster that is slow is asked for less. */
const submitRate = ({ requests }: History, from: number, to: number) =>
  Math.round(
    requests.filter(({ began, submit }) => submit && began >= from && began <= to).length / ((to - from) / 1_000)
  )

/**
 * Begins a deployment. `leave` stops a node and notes how it ended; `end` closes the window and gives the judgement:
 * the longest silence of running turns, and the requests that one retry does not mend.
 */
export const deployment = async (cluster: Cluster) => {
  const from = await moment(cluster)
  const codes: Array<unknown> = []
  return {
    leave: async (node: Node) => {
      codes.push(await node.leave())
    },
    /**
     * It is over. `done` says what was done; that counts only if every node ended well, and a thread whose silence is
     * measured has got another owner.
     */
    end: async (done: string) => {
      const to = await moment(cluster)
      return async ({ audit, history }: RunData): Promise<Aftermath> => {
        const silences = longestGaps(audit, history, from.wall, to.wall).toSorted((a, b) => b.ms - a.ms)
        const gaps = silences.map(({ ms }) => ms)
        const [longest] = silences
        if (longest !== undefined && longest.ms > longestSilenceMs)
          for (const line of await storyOf(cluster, audit, longest)) console.log(`     longest silence: ${line}`)
        const hard = strained(history, from.at, to.at)
        for (const { failed } of hard.slice(0, 5)) console.log(`     not mended by one retry: ${failed}`)
        const moved = claimed(audit, history, from.wall, to.wall)
        return {
          gaps,
          observed:
            codes.every((code) => code === 0) && moved > 0 ? `${done}, ${moved} measured threads moved` : undefined,
          figures: [
            { name: "longest silence", value: quantile(gaps, 1), bar: longestSilenceMs, unit: "ms" },
            { name: "requests that one retry does not mend", value: hard.length, bar: 0, unit: "" },
            { name: "submits a second", value: submitRate(history, from.at, to.at), bar: 10, unit: "", least: true }
          ]
        }
      }
    }
  }
}

/** How many turns whose silence is measured run there. */
const probersOf = async (cluster: Cluster, node: Node, history: History) =>
  (await unfinishedOf(cluster, node, history)).filter(
    ({ id }) => history.threads.get(fromUuid("thread", id))?.prober === true
  ).length

export const term: Fault = {
  name: "SIGTERM of a node",
  bar: "longest silence ≤ 2 s; no request fails after one retry; ≥ 10 submits a second",
  inject: async ({ cluster, history, sleep }) => {
    const probed = await Promise.all(cluster.nodes.map((node) => probersOf(cluster, node, history)))
    const node = some(cluster.nodes[probed.indexOf(Math.max(...probed))])
    const { end, leave } = await deployment(cluster)
    await leave(node)
    await sleep(3_000)
    const judge = await end(`${node.name} left`)
    await node.start()
    return judge
  }
}

/** docs/operations.md has deployments keep some six seconds between two nodes: one that has just come is slow. */
export const betweenMs = 6_000

export const rolling: Fault = {
  name: "rolling restart of all nodes",
  bar: "longest silence ≤ 2 s; no request fails after one retry; ≥ 10 submits a second",
  workload: nominalLoad,
  inject: async ({ cluster, sleep }) => {
    const { end, leave } = await deployment(cluster)
    for (const node of cluster.nodes) {
      await leave(node)
      await node.start()
      await sleep(betweenMs)
    }
    return await end(`${cluster.nodes.length} nodes restarted`)
  }
}

/** At the load of the other faults, which leaves no core a moment: how long it is silent stands there without a bar. */
export const rollingUnderFullLoad: Fault = {
  name: "rolling restart under full load",
  bar: "no violation",
  inject: async (scene) => {
    const judge = await rolling.inject(scene)
    return async (run) => {
      const aftermath = await judge(run)
      return { ...aftermath, figures: aftermath.figures.map(({ bar: _, ...figure }) => figure) }
    }
  }
}

export const join: Fault = {
  name: "a fourth node joins",
  bar: "nothing is taken from a live owner (A1); the new node owns ≥ 0.1 within 20 s",
  inject: async ({ cluster, sleep }) => {
    await cluster.spare.start()
    await sleep(20_000)
    const { rows } = await cluster.pool.query<{ writer: string; n: number }>(
      `select a.writer, count(*)::int as n from heads h join audit.nodes a on a.incarnation = h.owner and a.what = 'join'
        where h.kind = 'thread' and h.updated_at > now() - interval '15 seconds' group by 1 order by 1`
    )
    const all = rows.reduce((sum, { n }) => sum + n, 0)
    const share = (rows.find(({ writer }) => writer === cluster.spare.name)?.n ?? 0) / Math.max(1, all)
    return () => ({
      gaps: [],
      observed: `active threads by node: ${rows.map(({ n, writer }) => `${writer} ${n}`).join(", ")}`,
      figures: [
        { name: "share of the new node", value: Math.round(share * 100) / 100, bar: 0.1, unit: "", least: true }
      ]
    })
  }
}

export const crashLoop: Fault = {
  name: "a thread whose node dies each time that it runs",
  bar: "failed as turn_poisoned at the third claim",
  inject: async ({ cluster, history, random, sleep }: Scene) => {
    const [thread] = [...history.threads.values()].filter(({ prober }) => !prober)
    const workspace = cluster.workspaces.find(({ id }) => id === thread?.workspace)
    if (thread === undefined || workspace === undefined) throw new Error("no thread")
    const headers = { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" }
    const base = some(cluster.pick(random)).base
    const seen = await (await fetch(`${base}/v1/threads/${thread.threadId}`, { headers })).json()
    const made = await (
      await fetch(`${base}/v1/threads`, {
        method: "POST",
        headers,
        body: JSON.stringify({
          agentId: field(seen, "thread", "agentId"),
          message: { content: [{ type: "text", text: "/wait 120s" }] }
        })
      })
    ).json()
    const id = String(field(made, "thread", "id"))
    const statusOf = async () => {
      const { rows } = await cluster.pool.query<{ status: string }>("select status from heads where id = $1", [
        toUuid(id)
      ])
      return rows[0]?.status
    }
    let kills = 0
    /** The life that was ended last: until it is over for PostgreSQL too, the thread is still its. */
    let ended: string | null = null
    let status = "running"
    for (
      const until = performance.now() + 60_000;
      status === "running" && performance.now() < until;
      await sleep(200)
    ) {
      const {
        rows: [row]
      } = await cluster.pool.query<{
        status: string
        incarnation: string | null
        writer: string | null
        live: boolean | null
      }>(
        `select h.status, h.owner as incarnation, n.name as writer, n.deadline > clock_timestamp() as live from heads h left join nodes n on n.incarnation = h.owner where h.id = $1`,
        [toUuid(id)]
      )
      status = row?.status ?? "gone"
      const owner = cluster.nodes.find(({ name, up }) => up && name === row?.writer)
      if (status !== "running" || owner === undefined || row?.live !== true || row.incarnation === ended || kills >= 4)
        continue
      // A thread looks for an input only after what its claim made it do: by then its turn has begun anew, or has failed.
      const answered = await fetch(`${owner.base}/v1/threads/${id}/queue/inp_${id.slice(4)}`, {
        method: "DELETE",
        headers,
        signal: AbortSignal.timeout(5_000)
      }).then(
        ({ status }) => status === 404 || status === 409,
        () => false
      )
      if (!answered || (await statusOf()) !== "running") continue
      ended = row.incarnation
      await owner.kill()
      kills++
      await owner.start()
    }
    const log = await cluster.pool.query<{ event: string }>(
      "select readable(event)::text as event from facts where actor = $1 and seq is not null order by pos desc limit 1",
      [toUuid(id)]
    )
    const code = field(JSON.parse(log.rows[0]?.event ?? "{}"), "failureCode")
    return () => ({
      gaps: [],
      observed: code === "turn_poisoned" ? `poisoned after ${kills} kills` : undefined,
      figures: [{ name: "kills", value: kills, bar: 3, unit: "" }]
    })
  }
}
