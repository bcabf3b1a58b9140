/**
 * Subscriptions as whoever may change them does it, by the interface or by a tool: what is asked of rows, of models and
 * of the language of conditions first, and then of the actor.
 *
 * A1. A change is compared and set: where no version was asked for, it is made again of what the subscription has
 *     become meanwhile.
 * A2. NewSubscription, changed and deleted by the same request again, it is what the first has made of it.
 */
import { Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { makeAgentMayName } from "../agents/agentModels.ts"
import { Database } from "../database/Database.ts"
import type { Tx } from "../database/handle.ts"
import { withdrawable } from "../database/withdrawable.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import type { Principal } from "../domain/principal.ts"
import { strictly } from "../domain/strict.ts"
import type { SubscriptionSettings } from "../domain/subscription.ts"
import { Lease } from "../journal/Lease.ts"
import { Models } from "../models/Model.ts"
import { cronProblem } from "../schedules/cron.ts"
import { targetThread } from "../schedules/target.ts"
import { freshId } from "../seed.ts"
import { conditionOf, isInvalid } from "./condition.ts"
import { takePlace } from "./enlisting.ts"
import * as refusals from "./refusals.ts"
import { readSubscription, type StoredSubscription, wasChanged } from "./rows.ts"
import { seedId } from "./seedId.ts"
import {
  subscriptionSettingsOf,
  SubscriptionChange,
  type SubscriptionInput,
  type SubscriptionPatch
} from "./subscription.ts"
import { Subscriptions } from "./Subscriptions.ts"

/** Who changes it. `seed`: what the request is known by where it comes again. */
export interface ChangedBy {
  readonly workspace: string
  readonly principal: Principal
  readonly seed?: string
}

export interface NewSubscription extends SubscriptionInput {
  readonly agentId: string
}

export interface SubscriptionEdit {
  readonly subscriptionId: string
  readonly patch: SubscriptionPatch
  /** Whether a version is the one that was read; absent: any is. */
  readonly fits?: (version: number) => boolean
}

type NoPlaceWords = ReturnType<typeof refusals.refusePlace | typeof refusals.cursorBehind>
interface Placed {
  readonly lastSeq: number
}

/** A1. */
const attempts = 5

const decodeChange = strictly(SubscriptionChange)

/** The settings as a client may change them. */
const changeable = ({ settings, subscription }: StoredSubscription): SubscriptionChange => ({
  ...settings,
  enabled: subscription.enabled
})

/** The whole as a patch makes it. `cadence` and `target` are kinds: they are not merged. */
const merged = (before: SubscriptionChange, { cadence, cursor: _, target, ...rest }: SubscriptionPatch) =>
  decodeChange({
    ...mergePatch(before, rest),
    ...(cadence === undefined ? {} : { cadence: cadence ?? { mode: "immediate" } }),
    ...(target === undefined ? {} : { target: target ?? { mode: "spawn" } })
  })

export const makeChanging = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const mayName = yield* makeAgentMayName
  const models = yield* Models
  const subscriptions = yield* Subscriptions
  const withdrawing = withdrawable(database)

  const find = (workspace: string, id: string) =>
    Effect.flatMap(
      database.run("subscriptions.get", (db) => readSubscription(db, workspace, id)),
      (found) => (found === undefined ? Effect.fail(refusals.noSubscription) : Effect.succeed(found))
    )

  /** `before`: what was taken already. */
  const checked = Effect.fnUntraced(function* (
    { principal, workspace }: ChangedBy,
    agentId: string,
    { cadence, condition, screen, target }: SubscriptionSettings,
    before?: SubscriptionSettings
  ) {
    const compiled = conditionOf(condition)
    if (isInvalid(compiled)) return yield* Effect.fail(refusals.invalidCondition(compiled))
    const unfit =
      cadence.mode === "schedule"
        ? cronProblem(cadence.expression, cadence.timezone, Math.floor(lease.now()))
        : undefined
    if (unfit !== undefined) return yield* Effect.fail(refusals.invalidCadence(unfit))
    if (screen !== undefined && models.resolve(screen.model).length === 0) return yield* Effect.fail(refusals.noModel)
    const isAgents = principal.type === "agent" && screen?.model !== before?.screen?.model
    if (isAgents && !(yield* mayName(workspace, agentId, screen?.model)))
      return yield* Effect.fail(refusals.modelNotInProfile)
    if (target.mode !== "thread" || isDeepStrictEqual(target, before?.target)) return
    const thread = yield* database.run("subscriptions.target", (db) =>
      targetThread(db, workspace, agentId, target.threadId)
    )
    if (thread === undefined) return yield* Effect.fail(refusals.threadNotFound)
    if (thread.archived) return yield* Effect.fail(refusals.threadArchived)
  })

  const place = async (
    tx: Tx,
    workspace: string,
    { agentId, cursor, feedId }: NewSubscription,
    id: string
  ): Promise<Result.Result<Placed, NoPlaceWords>> => {
    const place = await takePlace(tx, workspace, { agentId, feedId, id })
    if ("refused" in place) return Result.fail(refusals.refusePlace(place))
    return cursor !== undefined && cursor > place.lastSeq
      ? Result.fail(refusals.cursorBehind(place.lastSeq))
      : Result.succeed(place)
  }

  /** What making it would be refused with. */
  const checkCreate = Effect.fnUntraced(function* (by: ChangedBy, made: NewSubscription) {
    const { workspace } = by
    yield* checked(by, made.agentId, subscriptionSettingsOf(made))
    yield* withdrawing<void, NoPlaceWords | "tried">("subscriptions.place (tried)", async (tx) => {
      const placed = await place(tx, workspace, made, freshId("subscription"))
      return Result.fail(Result.isFailure(placed) ? placed.failure : "tried")
    }).pipe(Effect.catch((failure) => (failure === "tried" ? Effect.void : Effect.fail(failure))))
  })

  const create = Effect.fnUntraced(function* (changedBy: ChangedBy, made: NewSubscription) {
    const { principal: by, seed, workspace } = changedBy
    const { agentId, enabled = true, feedId } = made
    const settings = subscriptionSettingsOf(made)
    yield* checked(changedBy, agentId, settings)
    const id = seed === undefined ? freshId("subscription") : seedId(workspace, seed)
    const { lastSeq } = yield* withdrawing<Placed, NoPlaceWords>("subscriptions.place", (tx) =>
      place(tx, workspace, made, id)
    )
    const { cursor = lastSeq } = made
    yield* subscriptions
      .configure({ workspace, id, change: id, settings, enabled, cursor, version: 0, by, born: { agentId, feedId } })
      .pipe(
        // A2: somebody has changed it since.
        Effect.catchTag("SubscriptionChanged", () => Effect.void),
        Effect.mapError(refusals.birthRefusedBy)
      )
    return yield* find(workspace, id)
  })

  /** The change that a patch means, or why it is refused. */
  const meant = Effect.fnUntraced(function* (by: ChangedBy, { fits, patch, subscriptionId }: SubscriptionEdit) {
    const { workspace } = by
    const stored = yield* find(workspace, subscriptionId)
    if (fits?.(stored.version) === false) return yield* Effect.fail(refusals.subscriptionChanged)
    const whole = merged(changeable(stored), patch)
    if (Result.isFailure(whole))
      return yield* Effect.fail<refusals.UnfitSettings>({ _tag: "UnfitSettings", cause: whole.failure })
    const settings = subscriptionSettingsOf(whole.success)
    yield* checked(by, stored.subscription.agentId, settings, stored.settings)
    const { enabled = true } = whole.success
    const { cursor } = patch
    if (enabled && stored.feed.archived) return yield* Effect.fail(refusals.feedArchived)
    if (enabled && stored.agentArchived) return yield* Effect.fail(refusals.agentArchived)
    if (cursor !== undefined && cursor > stored.feed.lastSeq)
      return yield* Effect.fail(refusals.cursorBehind(stored.feed.lastSeq))
    // Who says what is shown changes nothing: word of the end of its feed or agent may be on its way, with its reason.
    const isEnabled = enabled === stored.subscription.enabled ? stored.switchedOn : enabled
    return { stored, settings, enabled: isEnabled, ...(cursor === undefined ? {} : { cursor }) }
  })

  const update = Effect.fnUntraced(function* (changedBy: ChangedBy, patched: SubscriptionEdit) {
    const { principal: by, workspace } = changedBy
    const { subscriptionId: id } = patched
    // A2: asked before the version is, which the change itself has raised.
    const { seed } = changedBy
    if (
      seed !== undefined &&
      (yield* database.run("subscriptions.changed", (db) => wasChanged(db, workspace, id, seed)))
    )
      return yield* find(workspace, id)
    const change = seed ?? freshId("subscription")
    yield* Effect.gen(function* () {
      const { stored, ...wanted } = yield* meant(changedBy, patched)
      yield* subscriptions
        .configure({
          workspace,
          id,
          change,
          ...wanted,
          lastSeq: stored.feed.lastSeq,
          version: stored.version,
          by
        })
        .pipe(Effect.mapError(refusals.refusedBy))
    }).pipe(
      Effect.retry({
        times: attempts - 1,
        while: (refused) => refused === refusals.subscriptionChanged && patched.fits === undefined
      })
    )
    return yield* find(workspace, id)
  })

  const found = Effect.fnUntraced(function* (
    workspace: string,
    { fits, subscriptionId }: Omit<SubscriptionEdit, "patch">
  ) {
    const stored = yield* find(workspace, subscriptionId)
    return fits?.(stored.version) === false ? yield* Effect.fail(refusals.subscriptionChanged) : stored
  })

  const remove = Effect.fnUntraced(function* (
    { seed, workspace }: Pick<ChangedBy, "seed" | "workspace">,
    edit: Omit<SubscriptionEdit, "patch">
  ) {
    const known = yield* Effect.result(found(workspace, edit))
    if (Result.isFailure(known)) {
      // A2: it was there when it was asked for.
      if (seed !== undefined && known.failure === refusals.noSubscription) return
      return yield* Effect.fail(known.failure)
    }
    const { version } = known.success
    yield* subscriptions
      .remove(workspace, edit.subscriptionId, edit.fits === undefined ? undefined : version)
      .pipe(Effect.mapError(refusals.refusedBy))
  })

  return { find, found, checkCreate, create, meant, update, remove }
})
