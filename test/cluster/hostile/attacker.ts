/**
 * The hostile client as a process: first without a key, then with a key of each scope, then with all of them at once.
 * It names each stage as it begins; the last one goes on until its standard input ends, then it says what it has used.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { scopes } from "../../../src/keys/scopes.ts"
import { attacks, type Tally, type Target } from "./attacks.ts"

export interface AttackerOptions {
  readonly target: Target
  /** Of all stages but for what the last one takes until the end of the input. */
  readonly seconds: number
}

export interface AttackerReport {
  /** Of one core, stage by stage. */
  readonly shares: ReadonlyArray<number>
  /** Milliseconds. */
  readonly wall: number
  readonly tallies: Readonly<Record<string, Tally>>
}

const { seconds, target }: AttackerOptions = JSON.parse(process.argv[2] ?? "")
const stages = [undefined, ...scopes, "all"] as const
const tallies: Record<string, Tally> = {}
const began = performance.now()
const shares: Array<number> = []

for (const [i, stage] of stages.entries()) {
  const stop = new AbortController()
  const before = { cpu: process.cpuUsage(), at: performance.now() }
  console.log(`stage ${i + 1} of ${stages.length}: ${stage ?? "no key"}`)
  const running = attacks
    .filter(({ scope }) => stage === "all" || scope === stage)
    .map(({ name, run }) => run({ target, tally: (tallies[name] ??= {}), signal: stop.signal }))
  if (stage === "all") console.log("last")
  else await sleep((seconds * 1_000) / stages.length)
  if (stage === "all") await new Promise((resolve) => process.stdin.once("end", resolve).resume())
  const { system, user } = process.cpuUsage(before.cpu)
  shares.push((system + user) / 1_000 / (performance.now() - before.at))
  stop.abort()
  await Promise.all(running)
}

const report: AttackerReport = { shares, wall: performance.now() - began, tallies }
console.log(`report ${JSON.stringify(report)}`)
process.exit()
