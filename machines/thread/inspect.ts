/**
 * What may come next of a thread, from its snapshot alone: for people who look at its chart. A guard that asks the
 * command says here whether any command could pass it now.
 */
import { type AnyTransitionDefinition, getNextTransitions } from "xstate"
import { runs } from "./callState.ts"
import type { Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import { type Context, openWaits, type Turn } from "./context.ts"
import { guards, mayRespond } from "./guards.ts"
import { failsTurn } from "./judging.ts"
import type { Refusal } from "./refuse.ts"
import { mayPause } from "./turn.ts"

type Guard = keyof typeof guards

/** A transition that some command could take now. */
export interface Way {
  readonly guard?: Guard
  /** The state that it leads to, by its path; absent where the thread stays where it is. */
  readonly to?: string
  readonly description: string
}

export interface Possible {
  readonly event: Command["type"]
  /** In the order in which they are tried; none where the event changes nothing now. */
  readonly ways: ReadonlyArray<Way>
  /** Of one that changes nothing now: the guard that keeps it from it. */
  readonly guard?: Guard
  /** What refuses the event, whatever it says. */
  readonly refused?: Refusal["error"]
}

/** Whether the command says how inputs would run, and reaches a thread at rest: outcomes are of a turn that runs. */
const events: { readonly [Type in Command["type"]]: boolean } = {
  submit: true,
  edit: false,
  remove: false,
  promote: true,
  cancel: true,
  compact: false,
  archive: false,
  due: true,
  poison: false,
  "model.replied": false,
  "model.failed": false,
  "prompt.long": false,
  "summary.made": false,
  "summary.failed": false,
  "tool.returned": false,
  "hook.decided": false,
  answer: false
}

const isGuard = (name: string): name is Guard => Object.hasOwn(guards, name)

const isEvent = (type: string): type is Command["type"] => Object.hasOwn(events, type)

const refusalOf = ({ carry, pending, turn }: Context, event: Command["type"]): Refusal["error"] | undefined => {
  switch (event) {
    case "edit":
    case "remove":
    case "promote":
      return pending.length === 0 ? "input_not_pending" : undefined
    case "submit":
    case "compact":
      return carry.archivedAt === undefined ? undefined : "thread_archived"
    case "archive":
      return turn === null && pending.length === 0 ? undefined : "turn_conflict"
    case "answer":
      return openWaits(turn).length === 0 ? "wait_not_open" : undefined
    default:
      return undefined
  }
}

const never = () => false
const inTurn = (holds: (turn: Turn, context: Context) => boolean) => (context: Context) =>
  context.turn !== null && holds(context.turn, context)

const steers = inTurn(
  (turn, { pending }) => mayRespond(turn) && pending.some(({ forTurnId }) => forTurnId === turn.turnId)
)

/** Of guards that ask the command: whether one could pass. Guards that are not named could always. */
const could: { readonly [Name in Guard]?: (context: Context) => boolean } = {
  // These transitions change nothing.
  takenBefore: never,
  stale: never,
  unarchived: ({ carry }) => carry.archivedAt === undefined,
  compactionUnwanted: ({ carry }) => carry.compactionWanted === undefined,
  staleRound: never,
  unasked: never,
  clearsQueue: ({ pending }) => pending.length > 0,
  steered: steers,
  finishes: inTurn(({ resulted }) => resulted === true),
  finishesSteered: (context) => steers(context) && context.turn?.resulted === true,
  retriesLater: inTurn(mayPause),
  retriesNow: inTurn(({ emptied }) => emptied === undefined),
  triesNextModel: inTurn(({ plan, target }) => target + 1 < plan.models.length),
  personDenies: inTurn((turn) => openWaits(turn).some(({ call }) => call === undefined)),
  waitFails: inTurn((turn) => openWaits(turn).some(failsTurn)),
  waitExpires: inTurn((turn) => openWaits(turn).some((open) => !failsTurn(open))),
  callReturns: inTurn(({ calls }) => calls.some(runs))
}

/** A hook is asked about a call, or about its result. */
const isJudgingCall = ({ turn }: Context) =>
  turn?.calls.some(({ state }) => state.type === "judging" || state.type === "judgingResult") === true

const wayOf = ({ description = "", guard, target }: AnyTransitionDefinition): Way => {
  const to = target?.[0]?.path.join(".")
  return {
    ...(typeof guard === "string" && isGuard(guard) ? { guard } : {}),
    ...(to === undefined ? {} : { to }),
    description
  }
}

/** What a thread at rest with waiting inputs does with any command that says how they would run. */
const admissions = ({ _nodes, context }: Snapshot): ReadonlyArray<Way> =>
  context.turn === null && context.pending.length > 0 ? _nodes.flatMap(({ always = [] }) => always.map(wayOf)) : []

export const possible = (snapshot: Snapshot): ReadonlyArray<Possible> => {
  const { context } = snapshot
  const ways = new Map<Command["type"], Array<Way>>()
  const barred = new Map<Command["type"], Guard>()
  for (const transition of getNextTransitions(snapshot)) {
    const { eventType, source } = transition
    if (!isEvent(eventType) || refusalOf(context, eventType) !== undefined) continue
    const way = wayOf(transition)
    if (way.guard !== undefined && could[way.guard]?.(context) === false) {
      barred.set(eventType, way.guard)
      continue
    }
    if (eventType === "hook.decided" && source.key === "acting" && !isJudgingCall(context)) continue
    ways.set(eventType, [...(ways.get(eventType) ?? []), way])
  }
  const next = admissions(snapshot)
  return Object.keys(events)
    .filter(isEvent)
    .map((event) => {
      const refused = refusalOf(context, event)
      if (refused !== undefined) return { event, ways: [], refused }
      const guard = barred.get(event)
      const open = [...(ways.get(event) ?? []), ...(events[event] ? next : [])]
      return { event, ways: open, ...(guard === undefined || open.length > 0 ? {} : { guard }) }
    })
}
