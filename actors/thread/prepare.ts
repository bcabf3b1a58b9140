/**
 * Completes what reaches a thread's mailbox with what the chart needs and does not hold: the time, how
 * waiting inputs would run, what stands behind calls, and which hooks are asked about what. Mostly from
 * memory: a turn without tools and hooks asks for nothing.
 */
import { Effect } from "effect"
import { besideAs } from "../../src/domain/beside.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { HookData } from "../../src/domain/hook.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Attributes, Journal } from "../../src/journal/Journal.ts"
import { goOn } from "../../src/now.ts"
import type { Spend } from "../../src/agents/Spending.ts"
import { rewriteProblem } from "../../src/hooks/answer.ts"
import { record, turnsRefused } from "../../src/telemetry/metrics.ts"
import { cutOutput } from "../../src/tools/output.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Admission, Command, RepliedCall, Rewrite, WaitAnswer } from "../../machines/thread/commands.ts"
import { clientFailure } from "../../machines/thread/calls.ts"
import {
  type Call,
  knownInput,
  openWaits,
  type Returned,
  type Turn,
  withWord,
  wordOf
} from "../../machines/thread/context.ts"
import type { UserMessage } from "../../machines/thread/facts.ts"
import { type Answer, Refused, Unreachable } from "../Actor.ts"
import type { Being } from "../Kind.ts"
import type { AdmissionOf, Selects, Wanting } from "./admissions.ts"
import { inputAnswer, inputTaken, notTaken } from "./earlier.ts"
import { explain, lineFull, notInProfile, refusedAdmission } from "./replies/refusals.ts"
import type { Request } from "./requests.ts"
import { factOf } from "./replies/rows.ts"
import { callBy, settingsOf } from "./settings.ts"
import { hooksAbout, type Kit, type Tools } from "./tools/toolkit.ts"

/** A command with what its answer needs. `command` is absent of a birth without a message. */
export interface Prepared {
  readonly at: number
  readonly command?: Command
  /** The input was taken before, and this is its answer: nothing is decided. */
  readonly earlier?: Answer
  /** The thread begins with this command: it answers with Thread detail. */
  readonly creating?: true
  /** For answers that are a Thread detail. */
  readonly spend?: Spend
  readonly attributes?: Attributes
}

export interface Preparing {
  readonly admissionOf: AdmissionOf
  readonly selects: Selects
  /** Whether too many turns of the workspace wait for a slot here. */
  readonly isLineFull: (workspace: string) => boolean
  readonly journal: Pick<Journal["Service"], "attributes" | "input" | "log">
  readonly spendOf: (workspace: string, agentId: string) => Effect.Effect<Spend, Unreachable>
  readonly tools: Tools
}

type Of<T extends Request["type"]> = Extract<Request, { readonly type: T }>
type Admissions = Readonly<Record<string, Admission>>
const none = Effect.succeed<Admissions>({})

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

/** The tool, or whatever stood in its place, has been reached: hooks see what it said. */
const told: ReadonlySet<string> = new Set(["tool_error", "tool_timeout", "toolset_unreachable", "toolset_unauthorized"])

const withHooks = (hooks: ReadonlyArray<number>) => (hooks.length === 0 ? {} : { hooks })

const about = ({ input, name, toolCallId, toolsetId }: Call) => ({
  toolCallId,
  toolName: name,
  ...(toolsetId === undefined ? {} : { toolsetId }),
  toolInput: input
})

/** What a hook would be told of a call's result. */
const resultData = (call: Call, returned: Returned): HookData => ({
  point: "after_tool_result",
  ...about(call),
  toolOutput: wordOf(returned),
  ...besideAs(returned.beside),
  ...(returned.failure === undefined ? {} : { failureCode: returned.failure.code })
})

/** What is under judgment, with the rewrite in its place. */
const judged = (turn: Turn, toolCallId: string | undefined, rewrite: Rewrite | undefined): HookData | undefined => {
  if (toolCallId !== undefined) {
    const call = turn.calls.find((other) => other.toolCallId === toolCallId)
    if (call === undefined) return undefined
    if (call.returned !== undefined) {
      return resultData(
        call,
        rewrite !== undefined && "toolOutput" in rewrite ? withWord(call.returned, rewrite.toolOutput) : call.returned
      )
    }
    return {
      point: "before_tool_call",
      ...about(call),
      ...(rewrite !== undefined && "toolInput" in rewrite ? { toolInput: rewrite.toolInput } : {})
    }
  }
  const message = turn.opening?.messages[0]
  if (message !== undefined)
    return { point: "before_turn_start", content: rewrite?.content ?? message.content, submitMode: message.submitMode }
  if (turn.reviewing === undefined) return undefined
  const { modelId, text, usage } = turn.reviewing.reply
  return {
    point: "after_model_response",
    content: rewrite?.content ?? (/\S/u.test(text) ? [{ type: "text", text }] : []),
    modelId,
    usage
  }
}

const fields = {
  before_turn_start: "content",
  after_model_response: "content",
  before_tool_call: "toolInput",
  after_tool_result: "toolOutput"
} as const

const invalid = (message: string) => new Refused({ reason: "invalid_request", code: "invalid_body", message })

/** A person may rewrite what is judged, and nothing else. */
const misfit = Effect.fnUntraced(function* (rewrite: Rewrite, data: HookData, kit: Kit) {
  const field = fields[data.point]
  const other = Object.keys(rewrite).find((key) => key !== field)
  if (other !== undefined || !(field in rewrite))
    return invalid(
      `rewrite${other === undefined ? "" : `.${other}`}: at ${data.point} it holds ${field}, and nothing else.`
    )
  if (data.point === "before_tool_call") {
    const problem = yield* kit.problem(data.toolName, "input", rewrite.toolInput)
    return problem === undefined ? undefined : invalid(`rewrite.toolInput: ${problem}`)
  }
  const problem = rewriteProblem(data, rewrite)
  return problem === undefined ? undefined : invalid(problem)
})

export const makePrepare = ({ admissionOf, isLineFull, journal, selects, spendOf, tools }: Preparing) => {
  const spend = (being: Being<Snapshot>) => spendOf(being.ref.workspace, being.parent ?? "")
  const kitOf = (being: Being<Snapshot>, turn: Turn) => tools.kit(being.ref.workspace, turn.plan)

  /** Hooks of the running turn that its steers have to pass. */
  const joining = (being: Being<Snapshot>, admissions: Admissions): Effect.Effect<Admissions, Unreachable> => {
    const { pending, turn } = being.snapshot.context
    if (turn?.plan.hooked !== true) return Effect.succeed(admissions)
    const steers = pending.filter((input) => input.forTurnId === turn.turnId)
    if (steers.length === 0) return Effect.succeed(admissions)
    return goOn(kitOf(being, turn), ({ hooks }) => {
      const settings = settingsOf(being)
      const joined = steers.flatMap(({ content, inputId, mode }) => {
        const admission = admissions[inputId]
        const found = hooksAbout(hooks, { point: "before_turn_start", content, submitMode: mode }, settings)
        return admission === undefined || found.length === 0
          ? []
          : [[inputId, { ...admission, joining: found }] as const]
      })
      return Effect.succeed({ ...admissions, ...Object.fromEntries(joined) })
    })
  }

  const admissionsOf = (
    being: Being<Snapshot>,
    fresh?: Wanting & Pick<Input, "inputId">
  ): Effect.Effect<Admissions, Unreachable> => {
    const { pending } = being.snapshot.context
    if (pending.length === 0 && fresh === undefined) return none
    const settings = settingsOf(being)
    if (fresh !== undefined && pending.length === 0) {
      return goOn(admissionOf(settings, fresh), (admission) => {
        // A plain object would teach the engine a new shape for every id.
        const admissions: Record<string, Admission> = Object.create(null)
        admissions[fresh.inputId] = admission
        return Effect.succeed(admissions)
      })
    }
    const inputs = fresh === undefined ? pending : [...pending, fresh]
    return Effect.flatMap(
      Effect.forEach(inputs, (input) => admissionOf(settings, input)),
      (admissions) => joining(being, Object.fromEntries(inputs.map((input, i) => [input.inputId, admissions[i]!])))
    )
  }

  const takenBefore = inputTaken(journal)

  /** The answer of an input that may have been taken before, if it was; what the machine holds it answers itself. */
  const earlierOf = (
    { ref, snapshot }: Being<Snapshot>,
    { creating, fresh, inputId }: { readonly inputId: string; readonly fresh?: true; readonly creating?: true }
  ) =>
    fresh === true || creating === true || knownInput(snapshot.context, inputId) !== undefined
      ? notTaken
      : takenBefore(ref, inputId)

  const submitting = (
    being: Being<Snapshot>,
    request: Of<"submit">,
    at: number
  ): Effect.Effect<Prepared, Refused | Unreachable> =>
    goOn(earlierOf(being, { ...request, inputId: request.input.inputId }), (earlier) =>
      earlier !== undefined
        ? Effect.succeed({ at, earlier })
        : goOn(choosing(being, request, request.input.model), () => taking(being, request, at))
    )

  /** The model may be named by whoever asks. */
  const choosing = (
    being: Being<Snapshot>,
    { profileModels }: Pick<Of<"submit">, "profileModels">,
    model: string | undefined
  ): Effect.Effect<void, Refused | Unreachable> =>
    profileModels === undefined || model === undefined
      ? Effect.void
      : goOn(selects(settingsOf(being), model), (selected) => (selected ? Effect.void : Effect.fail(notInProfile())))

  const editing = (
    being: Being<Snapshot>,
    request: Of<"edit">,
    at: number
  ): Effect.Effect<Prepared, Refused | Unreachable> => {
    const { profileModels: _, ...edit } = request
    const { model } = being.snapshot.context.pending.find(({ inputId }) => inputId === edit.inputId) ?? {}
    return Effect.as(choosing(being, request, model), { at, command: { ...edit, at } })
  }

  const taking = (being: Being<Snapshot>, request: Of<"submit">, at: number) =>
    goOn(admissionsOf(being, request.input), (admissions): Effect.Effect<Prepared, Refused | Unreachable> => {
      const { inputId, principal } = request.input
      const admission = admissions[inputId]
      const isNew = request.acknowledged !== true && knownInput(being.snapshot.context, inputId) === undefined
      // Refused to its sender at once, rather than as a turn that fails.
      if (isNew && admission !== undefined && "refused" in admission)
        return Effect.fail(refusedAdmission(admission.refused))
      if (
        isNew &&
        being.snapshot.context.turn === null &&
        principal.type !== "agent" &&
        isLineFull(being.ref.workspace)
      ) {
        record(turnsRefused)
        return Effect.fail(lineFull())
      }
      const { creating, fresh: _, profileModels: __, ...submit } = request
      const command = { ...submit, at, admissions }
      return creating === true
        ? goOn(spend(being), (spend) => Effect.succeed({ at, command, creating, spend }))
        : Effect.succeed({ at, command })
    })

  const cancelling = Effect.fnUntraced(function* (being: Being<Snapshot>, request: Of<"cancel">, at: number) {
    const admissions = yield* admissionsOf(being)
    // Edited past the actor, perhaps on another node.
    const attributes = yield* Effect.mapError(journal.attributes(being.ref), unreachable)
    return {
      at,
      command: { ...request, at, admissions },
      spend: yield* spend(being),
      ...(attributes === undefined ? {} : { attributes })
    }
  })

  /** The first message of the turn that ended last. */
  const firstMessage = Effect.fnUntraced(function* (being: Being<Snapshot>, turnId: string) {
    const first = yield* Effect.mapError(journal.input(being.ref, sibling("input", turnId)), unreachable)
    const fact = first?.state === "admitted" ? factOf(first.fact) : undefined
    return fact?.type === "user_message" ? fact : undefined
  })

  const retrying = Effect.fnUntraced(function* (being: Being<Snapshot>, request: Of<"retry">, at: number) {
    const { inputId, principal } = request
    const earlier = request.fresh === true ? undefined : yield* inputAnswer(journal)(being, inputId)
    if (earlier !== undefined) return { at, earlier }
    const {
      carry: { last },
      turn
    } = being.snapshot.context
    const nothing = explain({ error: "nothing_to_retry" })
    if (turn !== null || last === undefined) return yield* nothing
    const first: UserMessage | undefined = yield* firstMessage(being, last.turnId)
    if (first === undefined) return yield* nothing
    const model = first.detail?.model
    yield* choosing(being, request, model)
    return yield* taking(
      being,
      {
        type: "submit",
        input: {
          inputId,
          principal,
          mode: "queue",
          content: first.event.content,
          retryOf: last.turnId,
          ...(model === undefined ? {} : { model })
        }
      },
      at
    )
  })

  /** Plain: no calls to look up, and nobody to ask. */
  const isPlain = (turn: Turn, calls: ReadonlyArray<unknown>) => calls.length === 0 && turn.plan.hooked !== true

  /** Calls of a response, with what stands behind each now. */
  const standing = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    kit: Kit,
    asked: ReadonlyArray<Omit<RepliedCall, "verdict">>
  ) {
    const settings = settingsOf(being)
    const verdicts = yield* kit.verdicts(callBy(being), asked)
    return asked.map((call, i): RepliedCall => {
      const verdict = verdicts[i]!
      if ("refused" in verdict) return { ...call, verdict }
      const { toolsetId } = verdict
      const data: HookData = {
        point: "before_tool_call",
        toolCallId: "",
        toolName: call.name,
        toolInput: call.input,
        ...(toolsetId === undefined ? {} : { toolsetId })
      }
      return { ...call, verdict: { ...verdict, ...withHooks(hooksAbout(kit.hooks, data, settings)) } }
    })
  })

  /** What goes on once somebody has answered, or once nobody has, may be a day old. */
  const releasing = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    turn: Turn,
    calls: ReadonlyArray<Pick<Call, "toolCallId" | "name" | "input" | "approved" | "client" | "returned">>
  ) {
    const clients = calls.filter(({ client, returned }) => client !== undefined && returned === undefined)
    const reviewed = turn.reviewing?.reply.calls ?? []
    if (clients.length === 0 && reviewed.length === 0) return {}
    const kit = yield* kitOf(being, turn)
    const refused: Record<string, Failure> = {}
    for (const call of clients) {
      const failure = yield* kit.refusal(callBy(being), call)
      if (failure !== undefined) refused[call.toolCallId] = failure
    }
    return { refused, ...(reviewed.length === 0 ? {} : { calls: yield* standing(being, kit, reviewed) }) }
  })

  const replied = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    turn: Turn,
    request: Of<"model.replied">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const kit = yield* kitOf(being, turn)
    const calls = yield* standing(being, kit, request.calls)
    const { modelId, text, usage } = request
    const data: HookData = {
      point: "after_model_response",
      content: /\S/u.test(text) ? [{ type: "text", text }] : [],
      modelId,
      usage
    }
    return {
      at,
      command: { ...request, calls, at, admissions, ...withHooks(hooksAbout(kit.hooks, data, settingsOf(being))) }
    }
  })

  const decided = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    turn: Turn,
    request: Of<"hook.decided">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const data =
      request.rewrite === undefined || (request.decision !== "allow" && request.decision !== "ask")
        ? undefined
        : judged(turn, request.toolCallId, request.rewrite)
    const input = data?.point === "before_tool_call" ? { input: data.toolInput } : {}
    const call = turn.calls.find(({ toolCallId }) => toolCallId === request.toolCallId)
    const late =
      request.decision === "deny"
        ? {}
        : yield* releasing(being, turn, call === undefined ? [] : [{ ...call, ...input }])
    if (data === undefined) return { at, command: { ...request, ...late, at, admissions } }
    const { hooks } = yield* kitOf(being, turn)
    return {
      at,
      command: {
        ...request,
        ...late,
        at,
        admissions,
        hooks: hooksAbout(hooks, data, settingsOf(being), request.index + 1)
      }
    }
  })

  const returned = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    turn: Turn,
    request: Of<"tool.returned">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const { failure, toolCallId } = request
    const call = turn.calls.find((other) => other.toolCallId === toolCallId)
    if (call === undefined || (failure !== undefined && !told.has(failure.code)))
      return { at, command: { ...request, at, admissions } }
    const { hooks } = yield* kitOf(being, turn)
    return {
      at,
      command: {
        ...request,
        at,
        admissions,
        ...withHooks(hooksAbout(hooks, resultData(call, request), settingsOf(being)))
      }
    }
  })

  const answering = Effect.fnUntraced(function* (
    being: Being<Snapshot>,
    { answer, from, principal, waitId }: Of<"answer">,
    at: number
  ) {
    const { turn } = being.snapshot.context
    const found = openWaits(turn).find(({ wait }) => wait.waitId === waitId)
    const command = { type: "answer" as const, at, admissions: yield* admissionsOf(being), waitId, principal }
    // Nothing waits, or for something else: the chart says so.
    if (found === undefined || turn === null || (found.wait.type === "client_tool") !== (answer.type === "tool_result"))
      return { at, command: { ...command, answer } }
    const { asked, reviews } = settingsOf(being)
    if (
      principal.type === "agent" &&
      (from === being.ref.id || [being.parent, asked?.agentId, reviews?.agentId].includes(principal.id))
    ) {
      return yield* new Refused({
        reason: "permission_denied",
        message: "An agent resolves the waits neither of its own threads nor of those that it has asked for."
      })
    }
    const kit = yield* kitOf(being, turn)
    const { call, wait } = found
    const settings = settingsOf(being)
    if (answer.type === "tool_result") {
      if (call === undefined) return { at, command: { ...command, answer } }
      if (!("output" in answer)) {
        const data = resultData(call, { failure: clientFailure(answer.error) })
        return { at, command: { ...command, answer, ...withHooks(hooksAbout(kit.hooks, data, settings)) } }
      }
      const problem = yield* kit.problem(call.name, "output", answer.output)
      if (problem !== undefined) return yield* invalid(`output: ${problem}`)
      const output = cutOutput(answer.output)
      const kept: WaitAnswer = { type: "tool_result", output }
      return {
        at,
        command: {
          ...command,
          answer: kept,
          ...withHooks(hooksAbout(kit.hooks, resultData(call, { output }), settings))
        }
      }
    }
    const before = judged(turn, call?.toolCallId, undefined)
    const data = judged(turn, call?.toolCallId, answer.rewrite)
    if (answer.decision === "deny" || before === undefined || data === undefined)
      return { at, command: { ...command, answer } }
    const wrong = answer.rewrite === undefined ? undefined : yield* misfit(answer.rewrite, before, kit)
    if (wrong !== undefined) return yield* wrong
    const input = data.point === "before_tool_call" ? { input: data.toolInput } : {}
    // The answer itself is what the roles have asked for.
    const approved = wait.type === "role_approval" && call?.approval !== undefined ? { approved: call.approval } : {}
    const late = yield* releasing(being, turn, call === undefined ? [] : [{ ...call, ...input, ...approved }])
    return {
      at,
      command: {
        ...command,
        ...late,
        answer,
        hooks: hooksAbout(kit.hooks, data, settings, (wait.hook?.index ?? -1) + 1)
      }
    }
  })

  /** Waits that end now as an allow: what they held goes on. */
  const expiring = Effect.fnUntraced(function* (being: Being<Snapshot>, turn: Turn, request: Of<"due">, at: number) {
    const admissions = yield* admissionsOf(being)
    const going = openWaits(turn).filter(({ wait }) => wait.expiresAt <= at && wait.onTimeout === "allow")
    const late =
      going.length === 0
        ? {}
        : yield* releasing(
            being,
            turn,
            going.flatMap(({ call }) => call ?? [])
          )
    return { at, command: { ...request, ...late, at, admissions, ...queued(being, turn) } }
  })

  /** Time in line, which is no running time. */
  const queued = ({ desk }: Being<Snapshot>, { runningSince }: Turn) => ({ queuedMs: desk.queuedMs(runningSince) })

  return (being: Being<Snapshot>, request: Request, at: number): Effect.Effect<Prepared, Refused | Unreachable> => {
    const { turn } = being.snapshot.context
    switch (request.type) {
      case "create":
        return goOn(spend(being), (spend) => Effect.succeed({ at, creating: true, spend }))
      case "submit":
        return submitting(being, request, at)
      case "retry":
        return retrying(being, request, at)
      case "edit":
        return editing(being, request, at)
      case "remove":
      case "poison":
        return Effect.succeed({ at, command: { ...request, at } })
      case "cancel":
        return cancelling(being, request, at)
      case "answer":
        return answering(being, request, at)
      case "model.replied": {
        if (turn !== null && !isPlain(turn, request.calls)) return replied(being, turn, request, at)
        const calls = request.calls.map((call) => ({
          ...call,
          verdict: { refused: { code: "turn_interrupted" as const, text: "The turn is over." } }
        }))
        return goOn(admissionsOf(being), (admissions) =>
          Effect.succeed({ at, command: { ...request, calls, at, admissions } })
        )
      }
      case "hook.decided":
        if (turn !== null) return decided(being, turn, request, at)
        break
      case "due":
        if (turn?.plan.hooked === true) return expiring(being, turn, request, at)
        return goOn(admissionsOf(being), (admissions) =>
          Effect.succeed({ at, command: { ...request, at, admissions, ...(turn === null ? {} : queued(being, turn)) } })
        )
      case "tool.returned":
        if (turn?.plan.hooked === true) return returned(being, turn, request, at)
        break
    }
    return goOn(admissionsOf(being), (admissions) => Effect.succeed({ at, command: { ...request, at, admissions } }))
  }
}
