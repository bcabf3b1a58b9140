/** Subscription (contract C40): which messages of a feed wake an agent, and what it is told. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { identityOf } from "../domain/identity.ts"
import { FeedId } from "../domain/resourceIds.ts"
import { limits } from "../domain/limits.ts"
import { ModelSelector } from "../domain/modelSelector.ts"
import { Principal } from "../domain/principal.ts"
import { Timestamp } from "../domain/time.ts"
import {
  Cadence,
  ConditionText,
  Intent,
  PassedReason,
  subscriptionWords,
  Screen,
  ScreenInstructions,
  SubscriptionName,
  type SubscriptionSettings,
  Target
} from "../domain/subscription.ts"
import { MessageData, MessageText, Tag } from "../domain/feedMessage.ts"

const seq = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const enabledSays = "Whether it looks at what comes. True when absent."
const cursorSays = "Seq up to which messages are passed over. Absent: all that the feed holds; those to come count."

/** The body of a create. */
export const SubscriptionInput = Schema.Struct({
  feedId: described(FeedId, "The feed whose messages it looks at."),
  name: described(Schema.optionalKey(SubscriptionName), subscriptionWords.name),
  cadence: described(Schema.optionalKey(Cadence), subscriptionWords.cadence),
  target: described(Schema.optionalKey(Target), subscriptionWords.target),
  condition: described(Schema.optionalKey(ConditionText), subscriptionWords.condition),
  intent: described(Schema.optionalKey(Intent), subscriptionWords.intent),
  includeSelf: described(Schema.optionalKey(Schema.Boolean), subscriptionWords.includeSelf),
  screen: described(Schema.optionalKey(Screen), subscriptionWords.screen),
  identity: Schema.optionalKey(identityOf(subscriptionWords.identity)),
  enabled: described(Schema.optionalKey(Schema.Boolean), enabledSays),
  cursor: described(Schema.optionalKey(seq), cursorSays)
}).annotate({ identifier: "SubscriptionInput" })
export type SubscriptionInput = typeof SubscriptionInput.Type

/** What a patch is merged into: all that may be changed. */
export const SubscriptionChange = Schema.Struct({
  name: SubscriptionInput.fields.name,
  cadence: SubscriptionInput.fields.cadence,
  target: SubscriptionInput.fields.target,
  condition: SubscriptionInput.fields.condition,
  intent: SubscriptionInput.fields.intent,
  includeSelf: SubscriptionInput.fields.includeSelf,
  screen: SubscriptionInput.fields.screen,
  identity: SubscriptionInput.fields.identity,
  enabled: SubscriptionInput.fields.enabled
})
export type SubscriptionChange = typeof SubscriptionChange.Type

/** JSON Merge Patch: absent keeps, null clears. `cadence` and `target` are replaced as a whole. */
export const SubscriptionPatch = Schema.Struct({
  name: described(Schema.optionalKey(Schema.NullOr(SubscriptionName)), subscriptionWords.name),
  cadence: described(Schema.optionalKey(Schema.NullOr(Cadence)), subscriptionWords.cadence),
  target: described(Schema.optionalKey(Schema.NullOr(Target)), subscriptionWords.target),
  condition: described(Schema.optionalKey(Schema.NullOr(ConditionText)), subscriptionWords.condition),
  intent: described(Schema.optionalKey(Schema.NullOr(Intent)), subscriptionWords.intent),
  includeSelf: described(Schema.optionalKey(Schema.NullOr(Schema.Boolean)), subscriptionWords.includeSelf),
  screen: described(
    Schema.optionalKey(
      Schema.NullOr(
        Schema.Struct({
          model: described(Schema.optionalKey(ModelSelector), subscriptionWords.model),
          instructions: described(Schema.optionalKey(Schema.NullOr(ScreenInstructions)), subscriptionWords.instructions)
        })
      )
    ),
    subscriptionWords.screen
  ),
  identity: described(
    Schema.optionalKey(Schema.NullOr(identityOf(subscriptionWords.identity))),
    subscriptionWords.identity
  ),
  enabled: described(Schema.optionalKey(Schema.NullOr(Schema.Boolean)), enabledSays),
  cursor: described(
    Schema.optionalKey(seq),
    "Seq up to which everything counts as dealt with: messages after it are handed over again."
  )
}).annotate({ identifier: "SubscriptionPatch" })
export type SubscriptionPatch = typeof SubscriptionPatch.Type

/** Defaults filled in. An empty condition or intent is none: it is shown so, and sent back so. */
export const subscriptionSettingsOf = (input: SubscriptionChange): SubscriptionSettings => ({
  ...(input.name === undefined ? {} : { name: input.name }),
  cadence: input.cadence ?? { mode: "immediate" },
  target: input.target ?? { mode: "spawn" },
  ...(input.condition === undefined || input.condition === "" ? {} : { condition: input.condition }),
  ...(input.intent === undefined || input.intent === "" ? {} : { intent: input.intent }),
  includeSelf: input.includeSelf ?? false,
  ...(input.screen === undefined ? {} : { screen: input.screen }),
  ...(input.identity === undefined ? {} : { identity: input.identity })
})

const Status = Schema.Literals(["escalated", "dismissed", "failed"])

export const Subscription = Schema.Struct({
  id: described(Schema.String, "Id of the subscription."),
  agentId: described(Schema.String, "The agent that gets the messages."),
  workspaceId: described(Schema.String, "Workspace of both."),
  feedId: described(Schema.String, "The feed whose messages it looks at."),
  feedName: described(Schema.String, "The feed's name as of now."),
  feedArchivedAt: described(Schema.optionalKey(Timestamp), "Since when the feed takes no messages any more."),
  name: described(Schema.optionalKey(Schema.String), subscriptionWords.name),
  cadence: described(Cadence, subscriptionWords.cadence),
  target: described(Target, subscriptionWords.target),
  condition: described(Schema.String, subscriptionWords.condition),
  intent: described(Schema.String, subscriptionWords.intent),
  includeSelf: described(Schema.Boolean, subscriptionWords.includeSelf),
  screen: described(Schema.optionalKey(Screen), subscriptionWords.screen),
  identity: described(Schema.optionalKey(Schema.String), subscriptionWords.identity),
  enabled: described(Schema.Boolean, "Whether it looks at what comes."),
  disabledReason: described(
    Schema.optionalKey(Schema.String),
    "Why it was disabled, where nobody has asked for that: `feed_archived`, `agent_archived`, `thread_archived`, " +
      "`thread_not_found`, `failures` or `poisoned`."
  ),
  cursor: described(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), "Everything up to this seq is dealt with."),
  pendingCount: described(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), "Messages behind the cursor."),
  createdAt: described(Timestamp, "When it was made."),
  updatedAt: described(Timestamp, "When it was changed last."),
  createdBy: described(Principal, "Who made it."),
  lastEvaluatedAt: described(Schema.optionalKey(Timestamp), "When messages were judged last."),
  lastStatus: described(
    Schema.optionalKey(Status),
    "Outcome of the last messages: `escalated` was handed over, `dismissed` was not to be, `failed` is tried again."
  ),
  lastReason: described(Schema.optionalKey(PassedReason), "Why messages that match were dismissed."),
  lastThreadId: described(Schema.optionalKey(Schema.String), "The thread that has got the last ones."),
  lastTurnId: described(Schema.optionalKey(Schema.String), "The turn of that."),
  nextAt: described(Schema.optionalKey(Timestamp), "When the window ends, or the next attempt is made.")
}).annotate({ identifier: "Subscription" })
export type Subscription = typeof Subscription.Type

export const Evaluation = Schema.Struct({
  seq: described(Schema.Int, "Its place among those of the subscription."),
  at: described(Timestamp, "When the messages were judged."),
  status: described(Status, "Outcome of the messages."),
  fromSeq: described(Schema.Int, "Seq of the first message."),
  toSeq: described(Schema.Int, "Seq of the last message."),
  count: described(Schema.optionalKey(Schema.Int), "How many of them match. Absent where it failed."),
  reason: described(Schema.optionalKey(PassedReason), "Why messages that match were dismissed."),
  error: described(
    Schema.optionalKey(
      Schema.Struct({
        code: described(Schema.String, "The problem, as a word."),
        message: described(Schema.String, "The problem, for people.")
      })
    ),
    "Why it failed."
  ),
  retryAt: described(Schema.optionalKey(Timestamp), "When the next attempt was to be."),
  threadId: described(Schema.optionalKey(Schema.String), "The thread that has got them."),
  turnId: described(Schema.optionalKey(Schema.String), "The turn of that.")
}).annotate({ identifier: "Evaluation" })
export type Evaluation = typeof Evaluation.Type

/** What a condition is tried on. */
export const SampleMessage = Schema.Struct({
  text: described(MessageText, "The message's text."),
  tags: described(
    Schema.optionalKey(Schema.Array(Tag).check(Schema.isMaxLength(limits.feedTags), Schema.isUnique())),
    "Its tags."
  ),
  data: described(Schema.optionalKey(MessageData), "Its data."),
  principal: described(Schema.optionalKey(Principal), "Who appended it. Absent: the caller.")
}).annotate({ identifier: "SampleMessage" })
export type SampleMessage = typeof SampleMessage.Type

export const Evaluated = Schema.Struct({
  matched: described(Schema.Boolean, "Whether the message matches."),
  error: described(Schema.optionalKey(Schema.String), "Why the condition could not be asked of it."),
  content: described(Schema.optionalKey(Schema.String), "Message that would be handed over.")
}).annotate({ identifier: "Evaluated" })
export type Evaluated = typeof Evaluated.Type
