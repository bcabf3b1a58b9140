/** Inputs on their way to the chart: whether they were taken before, whether they may be, and how they would run. */
import { Effect } from "effect"
import { sibling } from "../../src/domain/ids.ts"
import { flatMapNow } from "../../src/now.ts"
import { record, turnsRefused } from "../../src/telemetry/metrics.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { knownInput } from "../../machines/thread/context.ts"
import type { UserMessage } from "../../machines/thread/facts.ts"
import type { Declined, Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import type { AdmissionsOf } from "./admissions.ts"
import { inputAnswer, inputTaken, notTaken } from "./earlier.ts"
import type { Prepared, Preparing } from "./prepared.ts"
import { declinedFor, lineFull, notInProfile, refusedAdmission } from "./replies/refusals.ts"
import { factOf } from "./replies/rows.ts"
import type { Of } from "./requests.ts"
import { settingsOf } from "./settings.ts"

type Options = Pick<Preparing, "isLineFull" | "journal" | "payable" | "selects" | "spendOf">

export const makeSubmits = (
  { isLineFull, journal, payable, selects, spendOf }: Options,
  admissionsOf: AdmissionsOf
) => {
  const takenBefore = inputTaken(journal)

  /** The answer of an input that may have been taken before, if it was; what the machine holds it answers itself. */
  const earlierOf = (
    { ref, snapshot }: ActorView<Snapshot>,
    { creating, fresh, inputId }: { readonly inputId: string; readonly fresh?: true; readonly creating?: true }
  ) =>
    fresh === true || creating === true || knownInput(snapshot.context, inputId) !== undefined
      ? notTaken
      : takenBefore(ref, inputId)

  const submitting = (
    being: ActorView<Snapshot>,
    request: Of<"submit">,
    at: number
  ): Effect.Effect<Prepared, Declined | Unreachable> =>
    flatMapNow(earlierOf(being, { ...request, inputId: request.input.inputId }), (earlier) =>
      earlier !== undefined
        ? Effect.succeed({ at, earlier })
        : flatMapNow(choosing(being, request, request.input.model), () => taking(being, request, at))
    )

  /** The model may be named by whoever asks. */
  const choosing = (
    being: ActorView<Snapshot>,
    { profileModels }: Pick<Of<"submit">, "profileModels">,
    model: string | undefined
  ): Effect.Effect<void, Declined | Unreachable> =>
    profileModels === undefined || model === undefined
      ? Effect.void
      : flatMapNow(selects(settingsOf(being), model), (selected) =>
          selected ? Effect.void : Effect.fail(notInProfile())
        )

  const editing = (
    being: ActorView<Snapshot>,
    request: Of<"edit">,
    at: number
  ): Effect.Effect<Prepared, Declined | Unreachable> => {
    const { profileModels: _, ...edit } = request
    const { model } = being.snapshot.context.pending.find(({ inputId }) => inputId === edit.inputId) ?? {}
    return Effect.as(choosing(being, request, model), { at, command: { ...edit, at } })
  }

  const taking = (being: ActorView<Snapshot>, request: Of<"submit">, at: number) =>
    flatMapNow(admissionsOf(being, request.input), (admissions): Effect.Effect<Prepared, Declined | Unreachable> => {
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
      const paid =
        isNew && admission !== undefined && "plan" in admission ? payable(being, admission.plan) : Effect.void
      return flatMapNow(paid, () =>
        creating === true
          ? flatMapNow(spendOf(being.ref.workspace, being.parent ?? ""), (spend) =>
              Effect.succeed({ at, command, creating, spend })
            )
          : Effect.succeed({ at, command })
      )
    })

  /** The first message of the turn that ended last. */
  const firstMessage = Effect.fnUntraced(function* (being: ActorView<Snapshot>, turnId: string) {
    const first = yield* Effect.mapError(journal.input(being.ref, sibling("input", turnId)), unreachable)
    const fact = first?.state === "admitted" ? factOf(first.fact) : undefined
    return fact?.type === "user_message" ? fact : undefined
  })

  const retrying = Effect.fnUntraced(function* (being: ActorView<Snapshot>, request: Of<"retry">, at: number) {
    const { inputId, principal } = request
    const earlier = request.fresh === true ? undefined : yield* inputAnswer(journal)(being, inputId)
    if (earlier !== undefined) return { at, earlier }
    const {
      carry: { last },
      turn
    } = being.snapshot.context
    const nothing = declinedFor({ error: "nothing_to_retry" })
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
          ...(first.detail?.hops === undefined ? {} : { hops: first.detail.hops }),
          ...(model === undefined ? {} : { model })
        }
      },
      at
    )
  })

  return { submitting, editing, retrying }
}
