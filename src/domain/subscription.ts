/** What a subscription does with its feed's messages (contract C40.3, C40.4): when, where, which of them. */
import { Schema } from "effect"
import { described } from "./described.ts"
import { identityOf } from "./identity.ts"
import { limits } from "./limits.ts"
import { ModelSelector } from "./modelSelector.ts"
import { ThreadId } from "./resourceIds.ts"
import { maxBytes, maxChars, nonBlankLine, storable } from "./text.ts"

/** Said once, of what is sent and of what is answered. */
export const subscriptionWords = {
  name: "The subscription's name, for people.",
  cadence: "When messages are handed over. `immediate` when absent.",
  target: "Which thread they are handed to. `spawn` when absent.",
  condition:
    "CEL over `text`, `tags`, `data`, `principal`, `seq` and `appendedAt` of one message, that says whether it " +
    "matches. Absent or empty: every message does.",
  intent: "Instructions for the agent, said before the messages.",
  includeSelf: "Whether messages of its own agent count. False when absent.",
  screen: "A model that is asked first whether the messages are worth a turn.",
  identity: "The identity that its turns act for.",
  maxMessages: "Messages that are handed over together at most.",
  model: "Model that is asked, on the agent's budget.",
  instructions: "Which messages are worth a turn, in words for the model.",
  threadId: "The thread that gets them.",
  windowSeconds: "Seconds from the first message that matches to the handover.",
  mode: "Tells the kinds apart."
}

const MaxMessages = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.batchMessages }))
const Immediate = Schema.Struct({
  mode: described(Schema.Literal("immediate"), subscriptionWords.mode),
  maxMessages: described(
    Schema.optionalKey(MaxMessages),
    `${subscriptionWords.maxMessages} 1 when absent: a message, a turn.`
  )
}).annotate({ identifier: "ImmediateCadence" })
const Window = Schema.Struct({
  mode: described(Schema.Literal("window"), subscriptionWords.mode),
  windowSeconds: described(
    Schema.Int.check(Schema.isBetween({ minimum: limits.windowSeconds.least, maximum: limits.windowSeconds.most })),
    subscriptionWords.windowSeconds
  ),
  maxMessages: described(
    Schema.optionalKey(MaxMessages),
    `${subscriptionWords.maxMessages} With as many the window ends. ${limits.batchMessages} when absent.`
  )
}).annotate({ identifier: "WindowCadence" })

const Scheduled = Schema.Struct({
  mode: described(Schema.Literal("schedule"), subscriptionWords.mode),
  expression: described(
    Schema.String.check(Schema.isMinLength(1), maxChars(limits.cronChars)),
    "Cron expression of five fields, or a word such as `@daily`."
  ),
  timezone: described(
    Schema.String.check(Schema.isMinLength(1), maxChars(limits.timezoneChars)),
    "Name of the IANA database, such as `Europe/Berlin`."
  )
}).annotate({ identifier: "ScheduleCadence" })

export const Cadence = Schema.Union([Immediate, Window, Scheduled])
export type Cadence = typeof Cadence.Type

const Spawn = Schema.Struct({ mode: described(Schema.Literal("spawn"), subscriptionWords.mode) }).annotate({
  identifier: "SpawnTarget"
})
const OneThread = Schema.Struct({
  mode: described(Schema.Literal("thread"), subscriptionWords.mode),
  threadId: described(ThreadId, subscriptionWords.threadId)
}).annotate({ identifier: "ThreadTarget" })
const Reuse = Schema.Struct({ mode: described(Schema.Literal("reuse"), subscriptionWords.mode) }).annotate({
  identifier: "ReuseTarget"
})

/** A thread for each handover, one that is there, or one for all of them that is made with the first. */
export const Target = Schema.Union([Spawn, OneThread, Reuse])
export type Target = typeof Target.Type

export const ScreenInstructions = Schema.String.check(maxBytes(limits.screenInstructionsBytes))
export const Screen = Schema.Struct({
  model: described(ModelSelector, subscriptionWords.model),
  instructions: described(Schema.optionalKey(ScreenInstructions), subscriptionWords.instructions)
}).annotate({ identifier: "Screen" })
export type Screen = typeof Screen.Type

export const SubscriptionName = Schema.String.check(nonBlankLine, maxChars(limits.subscriptionNameChars))
export const ConditionText = Schema.String.check(maxBytes(limits.celBytes), storable)
export const Intent = Schema.String.check(maxBytes(limits.subscriptionIntentBytes))

/** As they hold, defaults filled in. */
export const SubscriptionSettings = Schema.Struct({
  name: described(Schema.optionalKey(SubscriptionName), subscriptionWords.name),
  cadence: described(Cadence, subscriptionWords.cadence),
  target: described(Target, subscriptionWords.target),
  condition: described(Schema.optionalKey(ConditionText), subscriptionWords.condition),
  intent: described(Schema.optionalKey(Intent), subscriptionWords.intent),
  includeSelf: described(Schema.Boolean, subscriptionWords.includeSelf),
  screen: described(Schema.optionalKey(Screen), subscriptionWords.screen),
  identity: Schema.optionalKey(identityOf(subscriptionWords.identity))
}).annotate({ identifier: "SubscriptionSettings" })
export type SubscriptionSettings = typeof SubscriptionSettings.Type

export const DisabledReason = Schema.Literals([
  "requested",
  "feed_archived",
  "agent_archived",
  "thread_archived",
  "thread_not_found",
  "failures",
  "poisoned"
])
export type DisabledReason = typeof DisabledReason.Type

export const PassedReason = Schema.Literals(["hop_limit", "identity_disabled", "messages_trimmed"])
export type PassedReason = typeof PassedReason.Type

/** Messages that are handed over together at most. */
export const mostOf = ({ cadence }: SubscriptionSettings) =>
  cadence.mode === "schedule"
    ? limits.batchMessages
    : (cadence.maxMessages ?? (cadence.mode === "immediate" ? 1 : limits.batchMessages))
