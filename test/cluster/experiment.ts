/**
 * One run: clients at work, a fault in the midst of it, quiet, rest, judgement. The cluster is healthy again
 * afterwards, and may be used for the next.
 *
 * G. A run that proves nothing fails: too few inputs, or a fault that nobody observed.
 */
import { loadavg } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { type Audit, mark, readAudit } from "./audit.ts"
import { check, lastSeqOf, rest, type Verdict } from "./checker.ts"
import type { Cluster, ClusterOptions } from "./Cluster.ts"
import type { History } from "./History.ts"
import { randomOf } from "../process/Mixed.ts"
import { Workload, type WorkloadOptions } from "./workload.ts"

export interface Figure {
  readonly name: string
  /** Undefined: there was nothing to measure, which is no pass. */
  readonly value: number | undefined
  /** At most, where there is one; `least` turns it round. */
  readonly bar?: number
  readonly unit: "ms" | ""
  readonly least?: true
}

/** What a fault has to say once all is checked. */
export interface Aftermath {
  /** How it was seen to happen; undefined when it was not. */
  readonly observed: string | undefined
  /** Times of takeover, or of the longest silence. */
  readonly gaps: ReadonlyArray<number>
  readonly figures: ReadonlyArray<Figure>
}

export interface RunData {
  readonly audit: Audit
  readonly history: History
  readonly verdict: Verdict
}

/** Who is at work in a run. */
export interface Clients {
  readonly history: History
  readonly start: () => Promise<void>
  /** What a client complains of, as soon as it does. */
  readonly failed: () => Promise<never>
  /** No new inputs. */
  readonly settle: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Whether all who follow threads have seen their whole logs. */
  readonly caughtUp: (lastSeqOf: (threadId: string) => number) => Promise<void>
}

export interface Scene {
  readonly cluster: Cluster
  readonly history: History
  readonly clients: Clients
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** How long a fault that has a length is to last, where that was said. */
  readonly seconds?: number
}

export interface Fault {
  readonly name: string
  /** Bars in words, for the table. */
  readonly bar: string
  /** Makes the fault and mends it; what it gives is asked when all is checked. */
  readonly inject: (scene: Scene) => Promise<(run: RunData) => Aftermath | Promise<Aftermath>>
  readonly workload?: Partial<WorkloadOptions>
  /** Others than those of the workload. */
  readonly clients?: (cluster: Cluster, seed: number) => Clients
  /**
   * Violations that are not this version's: of an older one that runs beside it, and did not keep what this one
   * promises.
   */
  readonly excuses?: RegExp
  /** A cluster of its own. */
  readonly own?: Pick<ClusterOptions, "volumeMb" | "fakeTime">
}

export interface Result extends Aftermath {
  readonly fault: string
  readonly bar: string
  readonly seed: number
  readonly violations: ReadonlyArray<string>
  readonly verdict: Verdict
  /** Why requests that nobody answered were not answered. */
  readonly lost: ReadonlyArray<string>
  readonly load: number
  readonly seconds: number
}

export interface ExperimentOptions {
  readonly seed: number
  readonly inputs?: number
  readonly users?: number
  readonly restMs?: number
  readonly seconds?: number
}

const missed = ({ bar, least, value }: Figure) =>
  value === undefined || (bar !== undefined && (least === true ? value < bar : value > bar))

/** Figures that are past their bars. */
export const missedBars = ({ figures }: Pick<Result, "figures">) => figures.filter(missed)

/** Appends that only a unique index kept out, of the nodes' lives that go on. */
const inconsistent = async (cluster: Cluster) => {
  const counts = await Promise.all(
    cluster.nodes.map((node) => node.metric("troupe_journal_appends_inconsistent_total"))
  )
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

export const experiment = async (
  cluster: Cluster,
  fault: Fault,
  { inputs = 500, restMs = 60_000, seconds, seed, users }: ExperimentOptions
): Promise<Result> => {
  const began = performance.now()
  const since = await mark(cluster.pool)
  const workload: Clients =
    fault.clients?.(cluster, seed) ??
    new Workload(cluster, { seed, ...fault.workload, ...(users === undefined ? {} : { users }) })
  await workload.start()
  const { history } = workload
  const broken = workload.failed()
  broken.catch(() => {})
  const acknowledged = async (count: number) => {
    for (const until = performance.now() + 120_000; history.acknowledged < count && performance.now() < until; )
      await sleep(50)
  }
  const scenes = async () => {
    await acknowledged(Math.min(60, inputs / 5))
    // Long turns run by now.
    await sleep(2_000)
    const judge = await fault.inject({
      cluster,
      history,
      clients: workload,
      random: randomOf(seed ^ 0x5eed),
      sleep: (ms) => sleep(ms),
      ...(seconds === undefined ? {} : { seconds })
    })
    await acknowledged(inputs)
    await sleep(2_000)
    return judge
  }
  const load = loadavg()[0] ?? 0
  const bugsBefore = await inconsistent(cluster)
  const keptOutBefore = await cluster.postgres.factsKeptOut()
  let judge: Awaited<ReturnType<typeof scenes>>
  try {
    judge = await Promise.race([scenes(), broken])
  } catch (cause) {
    await workload.stop().catch(() => {})
    throw cause
  }
  const ended = cluster.nodes.filter((node) => node.up && !node.running).map(({ name }) => name)
  await cluster.healthy()
  await workload.settle()
  const restless = await rest(cluster, history, restMs)
  await workload.caughtUp(await lastSeqOf(cluster, history))
  await workload.stop()
  const audit = await readAudit(cluster.pool, since)
  const verdict = await check(cluster, history, audit, restless)
  const aftermath = await judge({ audit, history, verdict })
  const violations = [
    ...verdict.violations.filter((violation) => fault.excuses?.test(violation) !== true),
    ...ended.map((name) => `N1: ${name} has ended by itself`)
  ]
  if (history.acknowledged < inputs) violations.push(`G: only ${history.acknowledged} inputs were acknowledged`)
  const bugs = (await inconsistent(cluster)) - bugsBefore
  if (bugs > 0) violations.push(`J3: a unique index had to refuse ${bugs} appends`)
  const keptOut = (await cluster.postgres.factsKeptOut()) - keptOutBefore
  if (keptOut > 0) violations.push(`J3: a unique index had to refuse facts ${keptOut} times`)
  if (aftermath.observed === undefined) violations.push("G: the fault was not observed")
  if (history.foreign === 0) violations.push("G: no stranger was refused")
  return {
    ...aftermath,
    fault: fault.name,
    bar: fault.bar,
    seed,
    violations,
    verdict,
    load,
    seconds: (performance.now() - began) / 1_000,
    lost: history.requests.flatMap(({ failed = "", lost }) => (lost ? [failed] : []))
  }
}
