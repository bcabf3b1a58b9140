/** One subscription that tests tell things, and check after each. */
import { assert } from "@effect/vitest"
import { factOf, row } from "../../actors/subscription/kind.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { chart, type Snapshot } from "../../machines/subscription/chart.ts"
import type { Command, Found } from "../../machines/subscription/commands.ts"
import { type Context, stateOf, toldNext } from "../../machines/subscription/context.ts"
import { decide, start } from "../../machines/subscription/decide.ts"
import { jobsOf } from "../../machines/subscription/draft.ts"
import type { Fact } from "../../machines/subscription/facts.ts"
import { contextOf, restore } from "../../machines/subscription/fold.ts"
import { causes, makeSubscriptionInspected } from "../../machines/subscription/inspected.ts"
import { asLogged, checkStep } from "./stepChecks.ts"
import type { SubscriptionSettings } from "../../src/domain/subscription.ts"

export const inspected = makeSubscriptionInspected(factOf)

export type Told = Command extends infer C ? (C extends Command ? Omit<C, "at"> : never) : never

export const by = { type: "user", id: "ann" } as const
export const immediate: SubscriptionSettings = {
  cadence: { mode: "immediate" },
  target: { mode: "spawn" },
  includeSelf: false
}
export const windowed: SubscriptionSettings = {
  ...immediate,
  cadence: { mode: "window", windowSeconds: 30, maxMessages: 3 }
}
export const plain = ({ context, value }: Snapshot) => ({ context, value })

/** One subscription that is told things, and checked after each. */
export class Subject {
  snapshot = start()
  readonly facts: Array<Fact> = []
  readonly log: Array<WrittenFact> = []
  readonly running = new Set<string>()
  at = 1_000

  get context(): Context {
    return this.snapshot.context
  }

  tell(told: Told) {
    const before = this.snapshot
    const command = { ...told, at: this.at } as Command
    const { facts, jobs, next } = decide(before, command)
    this.snapshot = next
    this.facts.push(...facts)
    const cause = causes[command.type]
    this.log.push(...asLogged(this.log, facts.map(row), cause))
    checkStep({ chart, inspected, before, next, command, log: this.log, written: facts.length })
    for (const job of jobs) {
      if (job.type === "abandon") {
        for (const name of this.running) if (name.includes(`"${job.params.what}"`)) this.running.delete(name)
      } else this.running.add(JSON.stringify(job))
    }
    if (told.type === "listed")
      this.running.delete(JSON.stringify({ type: "enlist", params: { version: told.version } }))
    assert.deepStrictEqual(plain(restore(contextOf(this.facts))), plain(this.snapshot))
    assert.deepStrictEqual(plain(restore(JSON.parse(JSON.stringify(this.context)))), plain(this.snapshot))
    assert.strictEqual(stateOf(this.context), this.snapshot.value)
    for (const job of jobsOf(this.context))
      assert.isTrue(this.running.has(JSON.stringify(job)), `${told.type}: ${JSON.stringify(job)} was not begun`)
    return facts.map(({ type }) => type)
  }

  make(settings: SubscriptionSettings, lastSeq = 0) {
    this.tell({ type: "configure", change: "made", settings, enabled: true, cursor: lastSeq, version: 0, by })
    this.tell({ type: "listed", version: 1, lastSeq, archived: false })
    return this
  }

  configure(change: Partial<Extract<Told, { type: "configure" }>>) {
    const { disabled, settings, version } = this.context
    return this.tell({
      type: "configure",
      change: `change ${version}`,
      settings: settings ?? immediate,
      enabled: disabled === null,
      version,
      by,
      ...change
    })
  }

  /** Its feed hears of all that it has not heard of. */
  heard(lastSeq: number) {
    for (let { listing } = this.context; listing !== null; { listing } = this.context)
      this.tell({ type: "listed", version: toldNext(listing), lastSeq, archived: false })
  }

  notice(from: number, to = from, count = to - from + 1, exact = true) {
    return this.tell({ type: "notice", from, to, count, exact })
  }

  found(found: Found) {
    return this.tell({ type: "evaluated", look: this.context.look?.number ?? -1, found })
  }

  batch(from: number, to: number, seqs: ReadonlyArray<number>) {
    const batch = {
      from,
      to,
      count: seqs.length,
      hops: 0,
      text: "",
      threadId: `thr ${from}`,
      inputId: `inp ${this.context.generation} ${from} ${to}`
    }
    return this.found({ is: "batch", batch, seqs })
  }

  submitted() {
    return this.tell({ type: "submitted", inputId: this.context.batch?.inputId ?? "", turnId: "trn" })
  }

  refused(more: object = {}) {
    const failure = { code: "internal", text: "", refused: true, budget: false, ...more }
    return this.tell({ type: "refused", inputId: this.context.batch?.inputId ?? "", failure })
  }
}
