/** The thread as a kind of actor: its chart behind the host's interface. */
import { Effect } from "effect"
import type { Bus, Hint } from "../../src/bus/Bus.ts"
import { admissionOf as onceAdmitted } from "../../src/domain/once.ts"
import { eventText } from "../../src/journal/eventText.ts"
import type { Journal } from "../../src/journal/Journal.ts"
import type { Spend, ThreadAttributes } from "../../src/store/threadDetail.ts"
import { queuedMessage } from "../../src/store/threadDetail.ts"
import { record, turnDuration, turnsEnded, turnsPoisoned } from "../../src/telemetry/metrics.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Admission, Command } from "../../machines/thread/commands.ts"
import type { Turn } from "../../machines/thread/context.ts"
import { decide, start, statusOf } from "../../machines/thread/decide.ts"
import type { Fact, UserMessage } from "../../machines/thread/facts.ts"
import { fold } from "../../machines/thread/fold.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import { type Answer, Refused, Unreachable } from "../Actor.ts"
import type { Being, Decision, Kind, Written } from "../Kind.ts"
import { goOn } from "../now.ts"
import type { AdmissionOf, ThreadSettings } from "./admission.ts"
import { again, type ThreadJob } from "./again.ts"
import * as answers from "./answers.ts"
import type { Perform } from "./perform.ts"
import type { Prompts } from "./prompts.ts"
import { explain, refusedAdmission } from "./refusals.ts"
import type { Request } from "./requests.ts"
import { carryIn, carryOf, factOf, factRow, inputChanges, inputOf, nextDue, runnableAt, waitChanges } from "./rows.ts"
import type { Tails } from "./tails.ts"
import type { Tools } from "./tools.ts"

/** A command with what its answer needs. `command` is absent of a birth without a message. */
export interface Prepared {
  readonly at: number
  readonly command?: Command
  /** The thread begins with this command: it answers with Thread detail. */
  readonly creating?: true
  /** For answers that are a Thread detail. */
  readonly spend?: Spend
}

export interface ThreadKindOptions {
  readonly admissionOf: AdmissionOf
  readonly bus: Bus["Service"]
  readonly journal: Pick<Journal["Service"], "facts">
  readonly perform: Perform
  readonly prompts: Prompts
  readonly spendOf: (workspace: string, agentId: string) => Effect.Effect<Spend, Unreachable>
  readonly tails: Tails
  readonly tools: Tools
}

/** The facts themselves, beside their rows: kept prompts grow by them. */
interface ThreadWritten extends Written {
  readonly said: ReadonlyArray<Fact>
}

export type ThreadKind = Kind<Snapshot, Request, Prepared, ThreadJob, ThreadWritten>

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

/** Parsed once for as long as the thread lives. */
const known = new WeakMap<Being<Snapshot>, ThreadSettings>()

const settingsOf = (being: Being<Snapshot>): ThreadSettings => {
  const found = known.get(being)
  if (found !== undefined) return found
  const { identity, model, profileVersion } = JSON.parse(being.attributes) as ThreadAttributes
  const settings: ThreadSettings = {
    workspace: being.ref.workspace,
    agentId: being.parent ?? "",
    ...(identity === undefined ? {} : { identity }),
    ...(model === undefined ? {} : { model }),
    ...(profileVersion === undefined ? {} : { profileVersion })
  }
  known.set(being, settings)
  return settings
}

type Admissions = Readonly<Record<string, Admission>>
const none = Effect.succeed<Admissions>({})

export const makeThreadKind = ({ admissionOf, bus, journal, perform, prompts, spendOf, tails, tools }: ThreadKindOptions): ThreadKind => {
  const admissionsOf = (being: Being<Snapshot>, fresh?: Pick<Input, "inputId" | "principal" | "model">): Effect.Effect<Admissions, Unreachable> => {
    const { pending } = being.snapshot.context
    if (pending.length === 0 && fresh === undefined) return none
    const settings = settingsOf(being)
    if (fresh !== undefined && pending.length === 0) {
      return goOn(admissionOf(settings, fresh), (admission) => Effect.succeed({ [fresh.inputId]: admission }))
    }
    const inputs = fresh === undefined ? pending : [...pending, fresh]
    return Effect.map(
      Effect.forEach(inputs, (input) => admissionOf(settings, input)),
      (admissions) => Object.fromEntries(inputs.map((input, i) => [input.inputId, admissions[i]!]))
    )
  }

  const submitting = (being: Being<Snapshot>, request: Extract<Request, { type: "submit" }>, at: number) =>
    goOn(admissionsOf(being, request.input), (admissions): Effect.Effect<Prepared, Refused | Unreachable> => {
      const admission = admissions[request.input.inputId]
      // Refused to its sender at once, rather than as a turn that fails.
      if (admission !== undefined && "refused" in admission) return Effect.fail(refusedAdmission(admission.refused))
      const { creating, ...submit } = request
      const command = { ...submit, at, admissions }
      return creating === true
        ? goOn(spendOf(being.ref.workspace, being.parent ?? ""), (spend) => Effect.succeed({ at, command, creating, spend }))
        : Effect.succeed({ at, command })
    })

  /** The first message of the turn that ended last. */
  const firstMessage = Effect.fnUntraced(function*(being: Being<Snapshot>, turnId: string) {
    const rows = yield* Effect.mapError(journal.facts(being.ref, 0), unreachable)
    const first = rows.find((row) => row.once === onceAdmitted(turnId))
    const fact = first === undefined ? undefined : factOf(first)
    return fact?.type === "user_message" ? fact : undefined
  })

  const retrying = Effect.fnUntraced(function*(being: Being<Snapshot>, { inputId, principal }: Extract<Request, { type: "retry" }>, at: number) {
    const { carry: { last }, turn } = being.snapshot.context
    const nothing = explain({ error: "nothing_to_retry" })
    if (turn !== null || last === undefined) return yield* nothing
    const first: UserMessage | undefined = yield* firstMessage(being, last.turnId)
    if (first === undefined) return yield* nothing
    const model = first.detail?.model
    return yield* submitting(being, {
      type: "submit",
      input: { inputId, principal, mode: "queue", content: first.event.content, retryOf: last.turnId, ...(model === undefined ? {} : { model }) }
    }, at)
  })

  const prepare: ThreadKind["prepare"] = (being, request, at) => {
    const spend = () => spendOf(being.ref.workspace, being.parent ?? "")
    switch (request.type) {
      case "be born":
        return goOn(spend(), (spend) => Effect.succeed({ at, creating: true, spend }))
      case "submit":
        return submitting(being, request, at)
      case "retry":
        return retrying(being, request, at)
      case "edit":
      case "remove":
        return Effect.succeed({ at, command: { ...request, at } })
      case "cancel":
        return goOn(admissionsOf(being), (admissions) =>
          goOn(spend(), (spend) => Effect.succeed({ at, command: { ...request, at, admissions }, spend })))
      case "model.replied": {
        const calls = request.calls.map((call) => ({ ...call, verdict: tools.verdict(call.name) }))
        return goOn(admissionsOf(being), (admissions) => Effect.succeed({ at, command: { ...request, calls, at, admissions } }))
      }
      default:
        return goOn(admissionsOf(being), (admissions) => Effect.succeed({ at, command: { ...request, at, admissions } }))
    }
  }

  const answer = (being: Being<Snapshot>, { at, command, creating, spend }: Prepared, next: Snapshot, facts: ReadonlyArray<Fact>): Answer => {
    const before = being.snapshot
    const find = (snapshot: Snapshot, inputId: string) => snapshot.context.pending.find((input) => input.inputId === inputId)
    if (creating === true && spend !== undefined) {
      const detail = answers.detail(being, next, at, spend)
      return {
        status: 201,
        body: JSON.stringify(command?.type === "submit" ? { ...detail, input: answers.submitted(fresh(command.input, at), before, next, facts) } : detail)
      }
    }
    switch (command?.type) {
      case "submit":
        return { status: 201, body: JSON.stringify(answers.submitted(fresh(command.input, at), before, next, facts)) }
      case "promote": {
        const input = find(before, command.inputId)
        return input === undefined ? answers.nothing : { status: 200, body: JSON.stringify(answers.submitted({ ...input, mode: command.mode }, before, next, facts)) }
      }
      case "edit": {
        const input = find(next, command.inputId)
        return input === undefined ? answers.nothing : { status: 200, body: JSON.stringify(queuedMessage(input, next.context.turn?.turnId)) }
      }
      case "cancel":
        return spend === undefined ? answers.nothing : { status: 200, body: JSON.stringify(answers.detail(being, next, at, spend)) }
      default:
        return answers.nothing
    }
  }

  /** Money of the step: what turns that ended had cost. */
  const spentBy = (facts: ReadonlyArray<Fact>) =>
    facts.reduce((sum, fact) =>
      fact.type === "turn_completed" || fact.type === "turn_cancelled" || fact.type === "turn_failed" ? sum + (fact.event.usage.estimatedCost ?? 0) : sum, 0)

  const writtenBy = ({ parent, snapshot: before }: Being<Snapshot>, next: Snapshot, facts: ReadonlyArray<Fact>): ThreadWritten => {
    const inputs = inputChanges(before.context, next.context, facts)
    const waits = waitChanges(before.context, next.context)
    const amount = spentBy(facts)
    return {
      said: facts,
      facts: facts.map(factRow),
      status: statusOf(next),
      runnableAt: runnableAt(next),
      since: next.context.turn?.openedPos ?? null,
      carry: carryIn(next.context),
      ...(inputs === undefined ? {} : { inputs }),
      ...(waits === undefined ? {} : { waits }),
      ...(amount === 0 || parent === null ? {} : { spent: { subject: parent, amount } })
    }
  }

  return {
    name: "thread",
    blank: start(),
    load: ({ facts, head, inputs }) => {
      const publicOnes = facts.reduce((n, fact) => fact.public ? n + 1 : n, 0)
      return fold({
        carry: carryOf(head.carry), pos: head.pos - facts.length, seq: head.seq - publicOnes,
        facts: facts.map(factOf), pending: inputs.map(inputOf)
      })
    },
    prepare,
    decide: (being, prepared): Decision<Snapshot, ThreadJob, ThreadWritten> | Refused => {
      const { command } = prepared
      const before = being.snapshot
      if (command === undefined) return { next: before, written: writtenBy(being, before, []), jobs: [], answer: answer(being, prepared, before, []) }
      const refusal = refuse(before, command)
      if (refusal !== undefined) return explain(refusal)
      const { facts, jobs, next } = decide(before, command)
      return {
        next, jobs,
        ...(next === before ? {} : { written: writtenBy(being, next, facts) }),
        answer: answer(being, prepared, next, facts)
      }
    },
    left: ({ ref }) => {
      prompts.forget(ref.id)
      tails.forget(ref.id)
    },
    committed: ({ parent, ref, snapshot: next }, before, written, seq) => {
      const { pos, turn } = before.context
      for (const fact of written.said) count(fact, turn)
      prompts.committed(ref.id, pos, written.said, written.facts.reduce((sum, fact) => sum + fact.event.length, 0))
      const events: Array<Extract<Hint, { type: "events" }>["events"][number]> = []
      let at = seq
      for (const fact of written.facts) {
        if (!fact.public || fact.turn === null) continue
        at++
        events.push({ seq: at, turnId: fact.turn, type: fact.type, text: eventText(ref.id, { ...fact, turn: fact.turn, seq: at }) })
      }
      if (events.length > 0) tails.committed(ref.id, seq + 1, events.map((event) => event.text))
      const about = { workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id }
      if (!bus.watched(about)) return
      if (events.length > 0) bus.publish({ ...about, type: "events", events })
      if (statusOf(before) !== statusOf(next)) bus.publish({ ...about, type: "status", status: statusOf(next), lastSeq: at })
      if (before.context.pending !== next.context.pending) bus.publish({ ...about, type: "queue", pending: next.context.pending.length })
    },
    again,
    run: (job) => {
      const { turnId } = job.params
      switch (job.type) {
        case "sample":
          return { start: `${turnId}/sample` }
        case "runTool":
        case "reportLost":
          return { start: `${turnId}/${job.params.toolCallId}` }
        case "abandon":
          return { stop: `${turnId}/` }
      }
    },
    perform,
    nextDue,
    // The inbox holds what `post` wrote.
    revive: (text) => JSON.parse(text) as Request,
    due: { type: "due" },
    poison: { type: "poison" }
  }
}

const outcomes: Partial<Record<Fact["type"], string>> = { turn_completed: "completed", turn_cancelled: "cancelled", turn_failed: "failed" }

const count = (fact: Fact, turn: Turn | null) => {
  const outcome = outcomes[fact.type]
  if (outcome === undefined) return
  record(turnsEnded.with({ outcome }))
  if (turn?.turnId === fact.turnId) record(turnDuration, (fact.at - turn.deadlineAt + turn.plan.maxTurnMs) / 1000)
  if (fact.type === "turn_failed" && fact.event.failureCode === "turn_poisoned") record(turnsPoisoned)
}

/** The input as it was accepted. */
const fresh = (input: Extract<Command, { type: "submit" }>["input"], at: number): Input => ({ ...input, ord: 0, queuedAt: at })
