/** What happens to PostgreSQL, and on the way to it. */
import { mark } from "../audit.ts"
import type { Cluster } from "../Cluster.ts"
import type { Fault } from "../experiment.ts"
import { databaseNow, takeoverGaps, takeoversFrom, unfinishedOf } from "../measures.ts"
import { inFlight, some, takeover } from "./bars.ts"
import type { WorkloadOptions } from "../workload.ts"

export const restartPostgres = (signal: "SIGKILL" | "SIGQUIT", name: string): Fault => ({
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
        figures: [
          { name: "first new event", value: first === undefined ? undefined : first.at - back, bar: 5_000, unit: "ms" }
        ],
        observed:
          first === undefined || before === undefined
            ? undefined
            : `${Math.round(first.at - before.at)} ms without an append`
      }
    }
  }
})

export const cut: Fault = {
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
      const late = cluster.models.calls.filter(
        (call) => call.node === node.name && call.began > cutAt + 0.8 * cluster.ttlMs + 1_000 && call.began < healed
      )
      const lasting = cluster.models.calls.filter(
        (call) =>
          call.node === node.name &&
          call.began < healed &&
          (call.over ?? Infinity) > cutAt + 0.8 * cluster.ttlMs + 1_000 &&
          call.began > cutAt
      )
      return {
        gaps,
        observed:
          takeoversFrom(run.audit, node) > 0
            ? `${takeoversFrom(run.audit, node)} actors taken from ${node.name}`
            : undefined,
        figures: [
          ...takeover(gaps, 7_000, 7_000),
          { name: "model calls when fenced", value: new Set([...late, ...lasting]).size, bar: 0, unit: "" }
        ]
      }
    }
  }
}

export const oneWay: Fault = {
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

const writerHeld = (seconds: number): Fault => ({
  name: `the journal's connection of one node held for ${seconds} s, its lease lives`,
  bar: "no violation: what arrives late is refused",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const { postgres } = node.options
    postgres.counted.held = 0
    postgres.hold(["up"], "troupe writer")
    await sleep(seconds * 1_000)
    const held = postgres.counted.held
    postgres.heal()
    await sleep(3_000)
    return () => ({
      gaps: [],
      figures: [],
      observed: held > 0 ? `${held} messages of ${node.name} arrived late` : undefined
    })
  }
})

export const stuckWriter = writerHeld(8)

/** Until its appends are given up, two timeouts of a query at least: their actors leave, and have to come back. */
export const lostWriter = writerHeld(20)

export const lateAppend: Fault = {
  name: "what a node sends to PostgreSQL held until another has taken over, then delivered",
  bar: "late appends are refused, at least one; the late beat renews nothing",
  inject: async ({ cluster, random, sleep }) => {
    const node = some(cluster.pick(random))
    const before = await mark(cluster.pool)
    const refusedBefore = (await node.metric("troupe_journal_appends_refused_total")) ?? 0
    node.options.postgres.hold(["up"])
    const taken = async () => {
      const {
        rows: [row]
      } = await cluster.pool.query<{ n: string }>(
        "select count(*) as n from audit.heads h join audit.nodes a on a.incarnation = h.owner_before and a.what = 'join' where h.n > $1 and h.lapsed and a.writer = $2",
        [before.heads, node.name]
      )
      return Number(row?.n)
    }
    for (const until = performance.now() + 15_000; performance.now() < until && (await taken()) === 0; ) await sleep(10)
    node.options.postgres.heal()
    await sleep(2_000)
    const refused = ((await node.metric("troupe_journal_appends_refused_total")) ?? 0) - refusedBefore
    return ({ audit }) => ({
      gaps: [],
      observed:
        takeoversFrom(audit, node) > 0
          ? `${takeoversFrom(audit, node)} actors taken from ${node.name}, ${refused} late appends refused`
          : undefined,
      figures: [{ name: "late appends refused", value: refused, bar: 1, unit: "", least: true }]
    })
  }
}

export const halfOpen: Fault = {
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
    return () => ({
      gaps: [],
      figures: [],
      observed: lost > 0 ? `${lost} connections of ${node.name} forgotten` : undefined
    })
  }
}

const resetting = (
  about: Pick<Fault, "name" | "bar">,
  share: number,
  options: { readonly lateMs?: number; readonly only?: string },
  did: string,
  workload: Partial<WorkloadOptions> = {}
): Fault => ({
  ...about,
  workload,
  inject: async ({ cluster, random, sleep }) => {
    for (const {
      options: { postgres }
    } of cluster.nodes) {
      postgres.counted.resets = 0
      postgres.resetSome(share, random, options)
    }
    await sleep(10_000)
    const lost = cluster.nodes.reduce((sum, node) => sum + node.options.postgres.counted.resets, 0)
    for (const {
      options: { postgres }
    } of cluster.nodes)
      postgres.heal()
    return () => ({ gaps: [], figures: [], observed: lost > 0 ? `${lost} ${did}` : undefined })
  }
})

export const resets = resetting(
  {
    name: "connections to PostgreSQL reset in mid-commit, one statement in 50, for 10 s",
    bar: "no violation: unknown outcomes are resolved"
  },
  0.02,
  {},
  "connections reset"
)

// By then the next appends of the actor are there, or are not: with and without facts of their own, and most of them
// under no key, so that nothing but its rev keeps the late one out.
export const lateAfterReset = resetting(
  {
    name: "one statement of the journal in five arrives up to 3 s after its connection was reset, for 10 s",
    bar: "no violation: by then it was sent again, and the first is refused"
  },
  0.2,
  { lateMs: 3_000, only: "troupe writer" },
  "statements arrived late",
  { keyed: 0.2, thinkMs: 700 }
)

export const slow: Fault = {
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
      gaps: [],
      observed: took >= 200 ? `a look takes ${Math.round(took)} ms` : undefined,
      figures: [{ name: "takeovers", value: verdict.takeovers, bar: 0, unit: "" }]
    })
  }
}

/** PostgreSQL's processes that wait for this. */
const waitersFor = async ({ pool }: Cluster, event: string) => {
  const {
    rows: [row]
  } = await pool.query<{ n: number }>("select count(*)::int as n from pg_stat_activity where wait_event = $1", [event])
  return row?.n ?? 0
}

/**
 * PostgreSQL waits for a standby that there is not: what was committed is on its disk, and nobody sees it or hears of
 * it before the end of the wait. Beats of leases do not wait (audit.ts), so that every owner lives.
 */
export const commitsHang: Fault = {
  name: "commits hang for 8 s while reads work",
  bar: "no takeover; no violation: what was in doubt is told as it came out",
  inject: async ({ cluster, sleep }) => {
    await cluster.pool.query("alter system set synchronous_standby_names = 'nobody'")
    await cluster.pool.query("select pg_reload_conf()")
    await sleep(4_000)
    const waiting = await waitersFor(cluster, "SyncRep")
    await sleep(4_000)
    await cluster.pool.query("alter system reset synchronous_standby_names")
    await cluster.pool.query("select pg_reload_conf()")
    await sleep(5_000)
    return ({ verdict }) => ({
      gaps: [],
      observed: waiting > 0 ? `${waiting} commits waited` : undefined,
      figures: [{ name: "takeovers", value: verdict.takeovers, bar: 0, unit: "" }]
    })
  }
}

/** Milliseconds for which what was read before the hold may still be appended. */
const settlesMs = 3_000

/**
 * No answer comes on the connections for reads, of any node: keys, claims, loads, what is due, stored commands. What they
 * changed is changed, and nobody heard of it. Appends of running turns and beats of leases have connections of their own.
 */
export const readsHang: Fault = {
  name: "reads hang for 14 s while commits work",
  bar: "no takeover; no violation",
  inject: async ({ cluster, sleep }) => {
    const proxies = cluster.nodes.map(({ options }) => options.postgres)
    const before = await databaseNow(cluster)
    for (const proxy of proxies) {
      proxy.counted.held = 0
      proxy.hold(["down"], "troupe reads")
    }
    await sleep(14_000)
    const held = proxies.map(({ counted }) => counted.held)
    for (const proxy of proxies) proxy.letThrough("down")
    const after = await databaseNow(cluster)
    await sleep(4_000)
    return ({ audit, verdict }) => {
      const appends = audit.heads.filter(
        ({ at, rev_after, rev_before }) => at > before + settlesMs && at < after && rev_after !== rev_before
      ).length
      return {
        gaps: [],
        observed:
          Math.min(...held) > 0 && appends > 0
            ? `${held.join(", ")} pieces of answers came late or never, ${appends} appends meanwhile`
            : undefined,
        figures: [{ name: "takeovers", value: verdict.takeovers, bar: 0, unit: "" }]
      }
    }
  }
}

export const diskFull: Fault = {
  name: "PostgreSQL's volume is full for 8 s",
  bar: "no false acknowledgement; first new event ≤ 10 s after there is space again",
  own: { volumeMb: 500 },
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
      const silence = audit.heads.filter(
        (change) =>
          full !== undefined && change.at > full + 3_000 && change.at < back && change.rev_after !== change.rev_before
      ).length
      const first = audit.heads.find((change) => change.at >= back && change.rev_after !== change.rev_before)
      const late = first === undefined ? undefined : Math.max(0, first.at - back)
      return {
        gaps: late === undefined ? [] : [late],
        observed:
          silence === 0 || died ? `no append while it was full${died ? "; PostgreSQL stopped" : ""}` : undefined,
        figures: [{ name: "first new event", value: late, bar: 10_000, unit: "ms" }]
      }
    }
  }
}
