/** Every fault that this machine can make, each with its bars and with a probe that sees it happen. */
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join as inFolder } from "node:path"
import { field } from "../../src/cli/client.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { mark } from "./audit.ts"
import type { Cluster } from "./Cluster.ts"
import type { Aftermath, Fault, RunData, Scene } from "./experiment.ts"
import { databaseNow, longestGaps, pickups, quantile, strained, takeoverGaps, takeoversFrom, unfinishedOf } from "./measures.ts"
import type { Node } from "./Node.ts"

const some = (node: Node | undefined) => {
  if (node === undefined) throw new Error("no node is up")
  return node
}

const inFlight = 100

/** Bars of a takeover: half of the threads within the first, all within the second. */
const takeover = (gaps: ReadonlyArray<number>, p50: number, max: number): Aftermath["figures"] => [
  { name: "next event p50", value: quantile(gaps, 0.5), bar: p50, unit: "ms" },
  { name: "next event max", value: quantile(gaps, 1), bar: max, unit: "ms" }
]

const extraCalls = ({ verdict }: RunData, bar: number) => ({ name: "extra model calls a thread", value: verdict.extraCallsOfOne, bar, unit: "" } as const)

const kill: Fault = {
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
        gaps, figures: [...takeover(gaps, 4_000, 6_000), extraCalls(run, 1)],
        observed: takeoversFrom(run.audit, node) > 0 ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}` : undefined
      }
    }
  }
}

const stop: Fault = {
  name: "SIGSTOP 10 s, then SIGCONT",
  bar: "next event max ≤ 6 s; nothing accepted from the zombie (A2), quiet ≤ 1 s after; ≤ 1 extra model call a thread",
  inject: async ({ cluster, history, random, sleep }) => {
    const node = some(cluster.pick(random))
    const refusedBefore = await node.metric("troupe_journal_appends_refused_total") ?? 0
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
    const refused = (await node.metric("troupe_journal_appends_refused_total") ?? 0) - refusedBefore
    return (run) => {
      const gaps = takeoverGaps(run.audit, threads, node, since)
      const stale = cluster.models.calls.filter((call) => call.node === node.name && call.began < resumed - 9_000)
      const quiet = Math.max(0, ...stale.map(({ over = Infinity }) => over - resumed))
      return {
        gaps, figures: [...takeover(gaps, 6_000, 6_000), extraCalls(run, 1), { name: "zombie quiet after", value: quiet, bar: 1_000, unit: "ms" }],
        observed: takeoversFrom(run.audit, node) > 0 ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}, ${refused} stale appends refused` : undefined
      }
    }
  }
}

const shortStop: Fault = {
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
      gaps: [], observed: silent ? `${node.name} did not answer` : undefined,
      figures: [{ name: "takeovers", value: takeoversFrom(run.audit, node), bar: 0, unit: "" }, extraCalls(run, 0)]
    })
  }
}

/** What a deployment may cost: silence of running turns, and requests that one retry does not mend. */
const handOver = ({ audit, history }: RunData, from: { readonly wall: number; readonly at: number }, to: { readonly wall: number; readonly at: number }, observed: string | undefined): Aftermath => {
  const gaps = longestGaps(audit, history, from.wall, to.wall)
  const hard = strained(history, from.at, to.at)
  for (const { failed } of hard.slice(0, 5)) console.log(`     not mended by one retry: ${failed}`)
  return {
    gaps, observed,
    figures: [
      { name: "longest silence", value: quantile(gaps, 1), bar: 2_000, unit: "ms" },
      { name: "requests that one retry does not mend", value: hard.length, bar: 0, unit: "" }
    ]
  }
}

const moment = async (cluster: Cluster) => ({ wall: await databaseNow(cluster), at: performance.now() })

const term: Fault = {
  name: "SIGTERM of a node",
  bar: "longest silence ≤ 2 s; no request fails after one retry",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const from = await moment(cluster)
    const code = await node.leave()
    await sleep(3_000)
    const to = await moment(cluster)
    await node.start()
    return (run) => handOver(run, from, to, code === 0 ? `${node.name} left` : undefined)
  }
}

const rolling: Fault = {
  name: "rolling restart of all nodes",
  bar: "longest silence ≤ 2 s; no request fails after one retry",
  inject: async ({ cluster, sleep }) => {
    const from = await moment(cluster)
    const codes: Array<unknown> = []
    for (const node of cluster.nodes) {
      codes.push(await node.leave())
      await node.start()
      await sleep(2_000)
    }
    const to = await moment(cluster)
    return (run) => handOver(run, from, to, codes.every((code) => code === 0) ? `${codes.length} nodes restarted` : undefined)
  }
}

const restartPostgres = (signal: "SIGKILL" | "SIGQUIT", name: string): Fault => ({
  name,
  bar: "503 only; first new event ≤ 5 s after it accepts again; every acknowledged input once",
  inject: async ({ cluster, sleep }) => {
    await cluster.postgres.kill(signal)
    await sleep(1_000)
    await cluster.postgres.again()
    const back = await databaseNow(cluster)
    await sleep(6_000)
    return ({ audit }) => {
      const first = audit.heads.find((change) => change.at > back && change.rev_after !== change.rev_before)
      const before = audit.heads.findLast((change) => change.at <= back - 900)
      return {
        gaps: first === undefined ? [] : [first.at - back],
        figures: [{ name: "first new event", value: first === undefined ? undefined : first.at - back, bar: 5_000, unit: "ms" }],
        observed: first === undefined || before === undefined ? undefined : `${Math.round(first.at - before.at)} ms without an append`
      }
    }
  }
})

const cut: Fault = {
  name: "a node cut from PostgreSQL for 15 s (drop)",
  bar: "next event max ≤ 7 s; no model call of the cut node after 0.8 TTL + 1 s",
  inject: async ({ cluster, history, random, sleep }) => {
    const node = some(cluster.pick(random))
    node.options.postgres.hold()
    const cutAt = performance.now()
    const since = await databaseNow(cluster)
    await sleep(inFlight)
    const threads = await unfinishedOf(cluster, node, history)
    await sleep(15_000)
    const healed = performance.now()
    node.options.postgres.heal()
    await sleep(3_000)
    return (run) => {
      const gaps = takeoverGaps(run.audit, threads, node, since)
      const late = cluster.models.calls.filter((call) => call.node === node.name && call.began > cutAt + 0.8 * cluster.ttlMs + 1_000 && call.began < healed)
      const lasting = cluster.models.calls.filter((call) => call.node === node.name && call.began < healed && (call.over ?? Infinity) > cutAt + 0.8 * cluster.ttlMs + 1_000 && call.began > cutAt)
      return {
        gaps, observed: takeoversFrom(run.audit, node) > 0 ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}` : undefined,
        figures: [...takeover(gaps, 7_000, 7_000), { name: "model calls when fenced", value: new Set([...late, ...lasting]).size, bar: 0, unit: "" }]
      }
    }
  }
}

const oneWay: Fault = {
  name: "answers of PostgreSQL to one node held for 6 s, queries pass",
  bar: "no violation",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    node.options.postgres.counted.held = 0
    node.options.postgres.hold(["down"])
    await sleep(6_000)
    const held = node.options.postgres.counted.held
    node.options.postgres.heal()
    await sleep(3_000)
    return () => ({ gaps: [], figures: [], observed: held > 0 ? `${held} answers to ${node.name} held` : undefined })
  }
}

const stuckWriter: Fault = {
  name: "the journal's connection of one node held for 8 s, its lease lives",
  bar: "no violation: what arrives late is refused",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const { postgres } = node.options
    postgres.counted.held = 0
    postgres.hold(["up"], "troupe writer")
    await sleep(8_000)
    const held = postgres.counted.held
    postgres.heal()
    await sleep(3_000)
    return () => ({ gaps: [], figures: [], observed: held > 0 ? `${held} messages of ${node.name} arrived late` : undefined })
  }
}

const lateAppend: Fault = {
  name: "what a node sends to PostgreSQL held until another has taken over, then delivered",
  bar: "late appends are refused, at least one; the late beat renews nothing",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const before = await mark(cluster.pool)
    const refusedBefore = await node.metric("troupe_journal_appends_refused_total") ?? 0
    node.options.postgres.hold(["up"])
    const taken = async () => {
      const { rows: [row] } = await cluster.pool.query<{ n: string }>(
        "select count(*) as n from audit.heads h join audit.nodes a on a.incarnation = h.owner_before and a.what = 'join' where h.n > $1 and h.lapsed and a.writer = $2", [before.heads, node.name])
      return Number(row?.n)
    }
    for (const until = performance.now() + 15_000; performance.now() < until && await taken() === 0;) await sleep(10)
    node.options.postgres.heal()
    await sleep(2_000)
    const refused = (await node.metric("troupe_journal_appends_refused_total") ?? 0) - refusedBefore
    return ({ audit }) => ({
      gaps: [], observed: takeoversFrom(audit, node) > 0 ? `${takeoversFrom(audit, node)} actors taken from ${node.name}, ${refused} late appends refused` : undefined,
      figures: [{ name: "late appends refused", value: refused, bar: 1, unit: "", least: true }]
    })
  }
}

const halfOpen: Fault = {
  name: "connections of one node to PostgreSQL half open",
  bar: "no violation",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const { postgres } = node.options
    postgres.counted.resets = 0
    postgres.forget()
    await sleep(10_000)
    const lost = postgres.counted.resets
    postgres.heal()
    return () => ({ gaps: [], figures: [], observed: lost > 0 ? `${lost} connections of ${node.name} forgotten` : undefined })
  }
}

const resets: Fault = {
  name: "connections to PostgreSQL reset in mid-commit, one statement in 50, for 10 s",
  bar: "no violation: unknown outcomes are resolved",
  inject: async ({ cluster, random, sleep }) => {
    for (const { options: { postgres } } of cluster.nodes) {
      postgres.counted.resets = 0
      postgres.resetSome(0.02, random)
    }
    await sleep(10_000)
    const lost = cluster.nodes.reduce((sum, { options }) => sum + options.postgres.counted.resets, 0)
    for (const { options } of cluster.nodes) options.postgres.heal()
    return () => ({ gaps: [], figures: [], observed: lost > 0 ? `${lost} connections reset` : undefined })
  }
}

const slow: Fault = {
  name: "PostgreSQL 200 ms slow for 20 s",
  bar: "no takeover",
  inject: async ({ cluster, sleep }) => {
    for (const { options } of cluster.nodes) options.postgres.delay(100)
    const before = performance.now()
    await Promise.all(cluster.nodes.map((node) => node.ready()))
    const took = performance.now() - before
    await sleep(20_000)
    for (const { options } of cluster.nodes) options.postgres.heal()
    return ({ verdict }) => ({
      gaps: [], observed: took >= 200 ? `a look takes ${Math.round(took)} ms` : undefined,
      figures: [{ name: "takeovers", value: verdict.takeovers, bar: 0, unit: "" }]
    })
  }
}

const crashLoop: Fault = {
  name: "a thread whose node dies each time that it runs",
  bar: "failed as turn_poisoned at the third claim",
  inject: async ({ cluster, history, random, sleep }: Scene) => {
    const [thread] = [...history.threads.values()].filter(({ prober }) => !prober)
    const workspace = cluster.workspaces.find(({ id }) => id === thread?.workspace)
    if (thread === undefined || workspace === undefined) throw new Error("no thread")
    const headers = { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" }
    const base = some(cluster.pick(random)).base
    const seen = await (await fetch(`${base}/v1/threads/${thread.threadId}`, { headers })).json()
    const made = await (await fetch(`${base}/v1/threads`, {
      method: "POST", headers,
      body: JSON.stringify({ agentId: field(seen, "thread", "agentId"), message: { content: [{ type: "text", text: "/wait 120s" }] } })
    })).json()
    const id = field(made, "thread", "id")
    let kills = 0
    let status = "running"
    for (const until = performance.now() + 60_000; status === "running" && performance.now() < until; await sleep(200)) {
      const { rows: [row] } = await cluster.pool.query<{ status: string; writer: string | null; live: boolean | null }>(
        `select h.status, n.name as writer, n.deadline > clock_timestamp() as live from heads h left join nodes n on n.incarnation = h.owner where h.id = $1`, [toUuid(id)])
      status = row?.status ?? "gone"
      const owner = cluster.nodes.find(({ name, up }) => up && name === row?.writer)
      if (status !== "running" || owner === undefined || row?.live !== true || kills >= 4) continue
      // It has been claimed and has begun anew.
      await sleep(300)
      await owner.kill()
      kills++
      await owner.start()
    }
    const log = await cluster.pool.query<{ event: string }>("select readable(event)::text as event from facts where actor = $1 and seq is not null order by pos desc limit 1", [toUuid(id)])
    const code = field(JSON.parse(log.rows[0]?.event ?? "{}"), "failureCode")
    return () => ({
      gaps: [], observed: code === "turn_poisoned" ? `poisoned after ${kills} kills` : undefined,
      figures: [{ name: "kills", value: kills, bar: 3, unit: "" }]
    })
  }
}

const pickupBar = (run: RunData, from: number, to: number, bar: number, name: string) =>
  ({ name, value: quantile(pickups(run.history, run.verdict.admitted, from, to), 0.99), bar, unit: "ms" } as const)

const lostSubmits = ({ history }: RunData, from: number, to: number) =>
  ({ name: "submits not acknowledged", value: history.requests.filter(({ began, lost, submit }) => submit && lost && began >= from && began <= to).length, bar: 0, unit: "" } as const)

/** What the probes say of the bus. */
const busOf = async (node: Node) => {
  const response = await fetch(`${node.base}/readyz`, { signal: AbortSignal.timeout(1_000) })
  return field(await response.json(), "bus")
}

const natsOf = ({ nats }: Cluster) => {
  if (nats === undefined) throw new Error("this fault needs NATS: run it without --no-nats")
  return nats
}

const natsDown: Fault = {
  name: "NATS killed for 10 s",
  bar: "submits still acknowledged, pickup p99 ≤ 2.5 s",
  inject: async ({ cluster, sleep }) => {
    const nats = natsOf(cluster)
    const before = await busOf(some(cluster.nodes[0]))
    await nats.kill()
    const from = performance.now()
    await sleep(5_000)
    const during = await busOf(some(cluster.nodes[0]))
    await sleep(5_000)
    await nats.again()
    const to = performance.now()
    await sleep(8_000)
    const after = await busOf(some(cluster.nodes[0]))
    return (run) => ({
      gaps: [], observed: before !== during ? `the bus was ${before}, ${during}, ${after}` : undefined,
      figures: [lostSubmits(run, from, to), pickupBar(run, from, to, 2_500, "pickup p99 without NATS"), pickupBar(run, to + 5_000, Infinity, 2_500, "pickup p99 after")]
    })
  }
}

const natsCut: Fault = {
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
      gaps: [], observed: held > 0 ? `${held} messages held` : undefined,
      figures: [{ name: "takeovers", value: run.verdict.takeovers, bar: 0, unit: "" }, lostSubmits(run, from, to), pickupBar(run, from, to, 2_500, "pickup p99")]
    })
  }
}

const join: Fault = {
  name: "a fourth node joins",
  bar: "nothing is taken from a live owner (A1); the new node owns ≥ 0.1 within 20 s",
  inject: async ({ cluster, sleep }) => {
    await cluster.spare.start()
    await sleep(20_000)
    const { rows } = await cluster.pool.query<{ writer: string; n: number }>(
      `select a.writer, count(*)::int as n from heads h join audit.nodes a on a.incarnation = h.owner and a.what = 'join'
        where h.kind = 'thread' and h.updated_at > now() - interval '15 seconds' group by 1 order by 1`)
    const all = rows.reduce((sum, { n }) => sum + n, 0)
    const share = (rows.find(({ writer }) => writer === cluster.spare.name)?.n ?? 0) / Math.max(1, all)
    return () => ({
      gaps: [], observed: `active threads by node: ${rows.map(({ n, writer }) => `${writer} ${n}`).join(", ")}`,
      figures: [{ name: "share of the new node", value: Math.round(share * 100) / 100, bar: 0.1, unit: "", least: true }]
    })
  }
}

const faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

const clockJump: Fault = {
  name: "the wall clock of one node jumps by 2 h forth, then 4 h back",
  bar: "no takeover",
  inject: async ({ cluster, random, sleep }) => {
    if (!existsSync(faketime)) throw new Error("this fault needs libfaketime: apt-get install faketime")
    const node = some(cluster.pick(random))
    const file = inFolder(cluster.folder, "faketime")
    await writeFile(file, "+0\n")
    await node.leave()
    await node.start({ LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: "1", DONT_FAKE_MONOTONIC: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" })
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
      gaps: [], observed: seen.join() === "2,-2" ? `${node.name} was ${seen.join(" h, then ")} h off` : undefined,
      figures: [{
        name: "takeovers", bar: 0, unit: "",
        value: audit.heads.filter((change) => change.lapsed === true && BigInt(change.n) > BigInt(before.heads) && BigInt(change.n) <= BigInt(after.heads)).length
      }]
    })
  }
}

const diskFull: Fault = {
  name: "PostgreSQL's volume is full for 8 s",
  bar: "no false acknowledgement; first new event ≤ 10 s after there is space again",
  volumeMb: 500,
  inject: async ({ cluster, sleep }) => {
    await cluster.postgres.fill()
    const full = await databaseNow(cluster).catch(() => undefined)
    await sleep(8_000)
    const died = !cluster.postgres.alive
    await cluster.postgres.free()
    if (died) await cluster.postgres.again()
    const back = await databaseNow(cluster)
    await sleep(10_000)
    return ({ audit }) => {
      const silence = audit.heads.filter((change) => full !== undefined && change.at > full + 3_000 && change.at < back && change.rev_after !== change.rev_before).length
      const first = audit.heads.find((change) => change.at >= back && change.rev_after !== change.rev_before)
      const late = first === undefined ? undefined : Math.max(0, first.at - back)
      return {
        gaps: late === undefined ? [] : [late], observed: silence === 0 || died ? `no append while it was full${died ? "; PostgreSQL stopped" : ""}` : undefined,
        figures: [{ name: "first new event", value: late, bar: 10_000, unit: "ms" }]
      }
    }
  }
}

/** Both at once. */
const together = (a: Fault, b: Fault): Fault => ({
  name: `${a.name}, and at the same time: ${b.name}`,
  bar: "no violation",
  inject: async (scene) => {
    const judges = await Promise.all([a.inject(scene), b.inject(scene)])
    return async (run) => {
      const found = await Promise.all(judges.map((judge) => judge(run)))
      return { gaps: [], figures: [], observed: found.some(({ observed }) => observed === undefined) ? undefined : found.map(({ observed }) => observed).join("; ") }
    }
  }
})

export const faults: ReadonlyArray<Fault> = [
  kill, stop, shortStop, term, rolling,
  restartPostgres("SIGKILL", "PostgreSQL killed (SIGKILL) and started again"),
  restartPostgres("SIGQUIT", "PostgreSQL restarted at once (immediate shutdown)"),
  cut, oneWay, stuckWriter, lateAppend, halfOpen, resets, slow, natsDown, natsCut, join, clockJump, crashLoop,
  together(kill, resets), together(stop, natsDown), diskFull
]

export { kill }
