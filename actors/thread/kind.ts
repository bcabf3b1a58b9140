/** The thread as a kind of actor: its chart behind the host's interface. */
import type { Spending } from "../../src/agents/Spending.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { HintedEvent } from "../../src/bus/hints.ts"
import { eventText } from "../../src/journal/eventText.ts"
import { withContentText } from "./replies/contentText.ts"
import type { WebhookInterest } from "../../src/webhooks/Interest.ts"
import type { ModelUse, UsageCounts } from "../../src/usage/UsageCounts.ts"
import type { Journal } from "../../src/journal/Journal.ts"
import { queuedMessage } from "../../src/threads/detail.ts"
import { record, turnDuration, turnsEnded, turnsPoisoned } from "../../src/telemetry/metrics.ts"
import { dollars } from "../../src/domain/usage.ts"
import { chargedIn } from "../../machines/thread/charged.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Command } from "../../machines/thread/commands.ts"
import { ranFor, type Turn } from "../../machines/thread/context.ts"
import { threadInspected } from "./inspected.ts"
import { decide, start, statusOf } from "../../machines/thread/decide.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { type Fact, isPublic, typeOf } from "../../machines/thread/facts.ts"
import { fold } from "../../machines/thread/fold.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import { resume } from "../../machines/thread/resume.ts"
import type { Reply, Declined } from "../Actor.ts"
import { type ActorView, type Decision, type Kind, type WriteSet, defineKind } from "../Kind.ts"
import * as answers from "./replies/answers.ts"
import { makePriorReply } from "./earlier.ts"
import type { TurnEnds } from "./memory/turnEnds.ts"
import type { Perform } from "./perform.ts"
import { settledIn } from "./settling.ts"
import type { Prompts } from "./memory/prompts.ts"
import { makePrepare } from "./prepare.ts"
import type { Prepared, Preparing } from "./prepared.ts"
import { declinedFor } from "./replies/refusals.ts"
import type { ThreadRequest } from "./requests.ts"
import {
  carryTextOf,
  parseCarry,
  factOf,
  factRow,
  inputChanges,
  inputOf,
  nextDue,
  runnableAt,
  waitChanges
} from "./replies/rows.ts"
import { announcedBy } from "./announcing.ts"
import { payerOf } from "./settings.ts"
import { useIn } from "./using.ts"
import type { Tails } from "./replies/tails.ts"
import { lostOutcome, runOf } from "./jobs.ts"
import { decodeRequest, forwardable } from "./forwardable.ts"

export interface ThreadKindOptions extends Preparing {
  readonly journal: Pick<Journal["Service"], "attributes" | "input" | "log">
  readonly bus: Bus["Service"]
  /** USD of an agent are in the journal. */
  readonly booked: Spending["Service"]["booked"]
  /** The outcome of a call of a model is in the journal. */
  readonly used: UsageCounts["Service"]["add"]
  readonly turnEnds: TurnEnds
  readonly perform: Perform
  readonly prompts: Prompts
  readonly tails: Tails
  readonly webhooks: Pick<WebhookInterest["Service"], "due" | "has">
}

/** The facts themselves, beside their rows: kept prompts grow by them. */
interface ThreadWriteSet extends WriteSet {
  readonly said: ReadonlyArray<Fact>
  readonly use: ModelUse | undefined
}

export type ThreadKind = Kind<Snapshot, ThreadRequest, Prepared, Job, ThreadWriteSet>

export const makeThreadKind = ({
  booked,
  bus,
  turnEnds,
  perform,
  prompts,
  tails,
  used,
  webhooks,
  ...preparing
}: ThreadKindOptions): ThreadKind => {
  const answer = (
    being: ActorView<Snapshot>,
    { at, attributes, command, creating, spend }: Prepared,
    next: Snapshot,
    facts: ReadonlyArray<Fact>
  ): Reply => {
    const before = being.snapshot
    const find = (snapshot: Snapshot, inputId: string) =>
      snapshot.context.pending.find((input) => input.inputId === inputId)
    if (creating === true && spend !== undefined) {
      const detail = answers.detail(being, next, at, spend, admissionsOf(command))
      return {
        kind: "created",
        version: 1,
        body: JSON.stringify(
          command?.type === "submit"
            ? { ...detail, input: answers.submitted(fresh(command.input, at), before, next, facts) }
            : detail
        )
      }
    }
    switch (command?.type) {
      case "submit":
        return {
          kind: "created",
          body: withContentText(
            answers.submitted(find(before, command.input.inputId) ?? fresh(command.input, at), before, next, facts)
          )
        }
      case "promote": {
        const input = find(before, command.inputId)
        return input === undefined
          ? answers.doneReply
          : {
              kind: "found",
              body: withContentText(answers.submitted({ ...input, mode: command.mode }, before, next, facts))
            }
      }
      case "edit": {
        const input = find(next, command.inputId)
        return input === undefined
          ? answers.doneReply
          : { kind: "found", body: JSON.stringify(queuedMessage(input, next.context.turn?.turnId)) }
      }
      case "answer":
        return answers.resolved(command.waitId, before, facts)
      case "cancel":
      case "compact":
      case "archive":
        return spend === undefined
          ? answers.doneReply
          : answers.shownThread(
              being,
              next,
              next === before ? being.head.updatedAt : at,
              spend,
              attributes,
              admissionsOf(command)
            )
      default:
        return answers.doneReply
    }
  }

  const writtenBy = (
    being: ActorView<Snapshot>,
    next: Snapshot,
    facts: ReadonlyArray<Fact>,
    command?: Command
  ): ThreadWriteSet => {
    const { parent, snapshot: before } = being
    const inputs = inputChanges(
      before.context,
      next.context,
      facts,
      command?.type === "remove" ? command.inputId : undefined
    )
    const waits = waitChanges(before.context, next.context, facts, command?.type === "answer" ? command : undefined)
    const { settles, spent } = settledIn(before, next, command)
    const amount = dollars(chargedIn(before.context.turn, facts) + spent)
    return {
      said: facts,
      use: useIn(being, command),
      facts: facts.map(factRow),
      inputs,
      requiresEmptyInbox: command?.type === "archive" || (command?.type === "submit" && command.acknowledged !== true),
      archives: facts.some(({ type }) => type === "archived"),
      announces: webhooks.has(being.ref.workspace) ? announcedBy(being, next, facts) : undefined,
      waits: waits.length === 0 ? undefined : waits,
      spent: amount === 0 || parent === null ? undefined : { subject: payerOf(being), amount },
      settles
    }
  }

  return defineKind<Snapshot, ThreadRequest, Prepared, Job, ThreadWriteSet>({
    name: "thread",
    nouns: { id: "thread", parent: "agent" },
    blank: start(),
    standing: (snapshot) => ({
      status: statusOf(snapshot),
      runnableAt: runnableAt(snapshot),
      since: snapshot.context.turn?.openedPos ?? null,
      carry: carryTextOf(snapshot.context)
    }),
    load: ({ facts: rows, head, inputs }) => {
      const facts = rows.map(factOf)
      // As the fold counts: of a fact of a newer version it does not know whether it is public.
      const publicOnes = facts.filter(isPublic).length
      return fold({
        carry: parseCarry(head.carry),
        pos: head.pos - facts.length,
        seq: head.seq - publicOnes,
        facts,
        pending: inputs.map(inputOf)
      })
    },
    prepare: makePrepare(preparing),
    decide: (being, prepared): Decision<Snapshot, Job, ThreadWriteSet> | Declined => {
      const { command, earlier } = prepared
      const before = being.snapshot
      if (earlier !== undefined) return { next: before, jobs: [], answer: earlier }
      if (command === undefined)
        return {
          next: before,
          written: writtenBy(being, before, []),
          jobs: [],
          answer: answer(being, prepared, before, [])
        }
      const refusal = refuse(before, command)
      if (refusal !== undefined) return declinedFor(refusal)
      const { facts, jobs, next } = decide(before, command)
      return {
        next,
        jobs,
        ...(next === before ? {} : { written: writtenBy(being, next, facts, command) }),
        answer: answer(being, prepared, next, facts)
      }
    },
    committed: ({ parent, ref, snapshot: next }, before, written, seq) => {
      const { turn } = before.context
      for (const fact of written.said) {
        count(fact, turn)
        if (fact.turnId !== null && typeOf(fact).ends !== undefined) turnEnds.over(fact.turnId)
      }
      prompts.committed(ref.id, before.context, written.said)
      if (written.use !== undefined) used(written.use)
      if (written.announces !== undefined && written.announces.length > 0) webhooks.due()
      if (written.spent !== undefined) booked(ref.workspace, written.spent.subject, written.spent.amount)
      const events: Array<Required<HintedEvent>> = []
      let at = seq
      for (const fact of written.facts) {
        if (!fact.public || fact.turn === null) continue
        at++
        events.push({
          seq: at,
          turnId: fact.turn,
          type: fact.type,
          text: eventText(ref.id, { ...fact, turn: fact.turn, seq: at })
        })
      }
      if (events.length > 0)
        tails.committed(
          ref.id,
          seq + 1,
          events.map((event) => event.text)
        )
      const about = { workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id }
      if (!bus.watched(about)) return
      if (events.length > 0) bus.publish({ ...about, type: "events", events })
      if (statusOf(before) !== statusOf(next))
        bus.publish({ ...about, type: "status", status: statusOf(next), lastSeq: at })
      for (const wait of written.waits ?? [])
        bus.publish({ ...about, type: "wait", waitId: wait.id, state: wait.state, target: wait.target })
      if (before.context.pending !== next.context.pending)
        bus.publish({ ...about, type: "queue", pending: next.context.pending.length })
    },
    jobs: { resume, run: runOf, lostOutcome, perform, unready: () => prompts.reading },
    moments: { nextDue: ({ desk, snapshot }) => nextDue(snapshot, desk), due: { type: "due" } },
    remote: { forwardable, decodeRequest, priorReply: makePriorReply(preparing) },
    inspected: threadInspected,
    causeOf: ({ command }) => command?.type,
    poison: { type: "poison" }
  })
}

const admissionsOf = (command: Command | undefined) =>
  command !== undefined && "admissions" in command ? command.admissions : {}

const count = (fact: Fact, turn: Turn | null) => {
  const outcome = typeOf(fact).ends
  if (outcome === undefined) return
  record(turnsEnded.with({ outcome }))
  if (turn?.turnId === fact.turnId) record(turnDuration, ranFor(turn, fact.at) / 1000)
  if (fact.type === "turn_failed" && fact.event.failureCode === "turn_poisoned") record(turnsPoisoned)
}

/** The input as it was accepted. */
const fresh = (input: Extract<Command, { type: "submit" }>["input"], at: number): Input => ({
  queuedAt: at,
  ...input,
  ord: 0
})
