/** Feed and its messages (contract C39.1, C39.2): a log of a workspace that clients and agents append to. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { MessageData, MessageText, Tag } from "../domain/feedMessage.ts"
import { limits } from "../domain/limits.ts"
import { Origin, Principal } from "../domain/principal.ts"
import { maxBytes, maxChars, singleLine, storable, utf8Bytes } from "../domain/text.ts"
import { Timestamp } from "../domain/time.ts"

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "The feed's name: unique in the workspace, also among archived feeds.",
  description: "The feed's purpose, in words for people and models.",
  tags: "Labels for your own use, each of them once.",
  retention: "Which messages are kept. Absent: all of them.",
  maxMessages: "How many of the newest messages are kept.",
  maxAgeSeconds: "For how many seconds a message is kept.",
  text: "The message's text.",
  data: "Anything that programs are to read, as JSON.",
  dedupeKey: "The sender's own name for the message: a name that was sent within 24 hours is not appended again.",
  origin: "A trigger's description of an event outside. It carries no authority."
}

const namePattern = "^[a-z0-9][a-z0-9._/-]{0,127}$"
export const FeedName = Schema.String.check(
  Schema.isPattern(new RegExp(namePattern), {
    expected: `a name of 1 to ${limits.feedNameChars} of a-z 0-9 . _ / -, that begins with a letter or digit`,
    toJsonSchema: () => ({ pattern: namePattern })
  })
)

const Description = Schema.String.check(maxBytes(limits.feedDescriptionBytes), storable)
const Tags = Schema.Array(Tag).check(Schema.isMaxLength(limits.feedTags), Schema.isUnique())

const MaxMessages = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.feedMaxMessages }))
const MaxAgeSeconds = Schema.Int.check(
  Schema.isBetween({ minimum: limits.feedMaxAgeSeconds.least, maximum: limits.feedMaxAgeSeconds.most })
)

export const Retention = Schema.Struct({
  maxMessages: described(Schema.optionalKey(MaxMessages), says.maxMessages),
  maxAgeSeconds: described(Schema.optionalKey(MaxAgeSeconds), says.maxAgeSeconds)
}).annotate({ identifier: "Retention" })
export type Retention = typeof Retention.Type

/** What a client may say of a feed: the body of a create, and what a patch is merged into. */
export const FeedInput = Schema.Struct({
  name: described(FeedName, says.name),
  description: described(Schema.optionalKey(Description), says.description),
  tags: described(Schema.optionalKey(Tags), says.tags),
  retention: described(Schema.optionalKey(Retention), says.retention)
}).annotate({ identifier: "FeedInput" })
export type FeedInput = typeof FeedInput.Type

/** JSON Merge Patch of a feed: absent keeps, null clears. The merged whole is checked again as `FeedInput`. */
export const FeedPatch = Schema.Struct({
  name: described(Schema.optionalKey(FeedName), says.name),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  tags: described(Schema.optionalKey(Schema.NullOr(Tags)), says.tags),
  retention: described(
    Schema.optionalKey(
      Schema.NullOr(
        Schema.Struct({
          maxMessages: described(Schema.optionalKey(Schema.NullOr(MaxMessages)), says.maxMessages),
          maxAgeSeconds: described(Schema.optionalKey(Schema.NullOr(MaxAgeSeconds)), says.maxAgeSeconds)
        })
      )
    ),
    says.retention
  )
}).annotate({ identifier: "FeedPatch" })
export type FeedPatch = typeof FeedPatch.Type

export const Feed = Schema.Struct({
  id: described(Schema.String, "Id of the feed."),
  name: described(Schema.String, says.name),
  description: described(Schema.optionalKey(Schema.String), says.description),
  tags: described(Schema.Array(Schema.String), says.tags),
  firstSeq: described(Schema.Int, "Seq of the oldest message that is kept. One more than `lastSeq` where none is."),
  lastSeq: described(Schema.Int, "Seq of the newest message; 0 before the first."),
  retention: described(Schema.optionalKey(Retention), says.retention),
  archivedAt: described(Schema.optionalKey(Timestamp), "Since when it takes no messages any more."),
  createdAt: described(Timestamp, "When the feed was made."),
  createdBy: described(Principal, "Who made it.")
}).annotate({ identifier: "Feed" })
export type Feed = typeof Feed.Type

const ownFields = {
  text: described(MessageText, says.text),
  tags: described(Schema.optionalKey(Tags), says.tags),
  data: described(Schema.optionalKey(MessageData), says.data),
  dedupeKey: described(
    Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), maxChars(limits.dedupeKeyChars), singleLine)),
    says.dedupeKey
  )
}

export const FeedMessageInput = Schema.Struct({
  ...ownFields,
  origin: described(Schema.optionalKey(Origin), `${says.origin} Only triggers may send it.`)
}).annotate({ identifier: "FeedMessageInput" })
export type FeedMessageInput = typeof FeedMessageInput.Type

const bytesOf = ({ tags = [], text }: FeedMessageInput) =>
  tags.reduce((sum, tag) => sum + utf8Bytes(tag), utf8Bytes(text))

/** As many messages, and as long, as one append takes. */
const someOf = <Message extends Schema.Codec<FeedMessageInput, unknown>>(message: Message) =>
  described(
    Schema.Array(message).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(limits.feedAppendMessages),
      Schema.makeFilter<ReadonlyArray<FeedMessageInput>>(
        (messages) =>
          messages.reduce((sum, message) => sum + bytesOf(message), 0) <= limits.feedAppendBytes ||
          `messages whose text and tags have at most ${limits.feedAppendBytes} bytes together`,
        { toJsonSchema: () => ({}) }
      )
    ),
    `Messages in their order. Text and tags of all of them have at most ${limits.feedAppendBytes} bytes.`
  )

const expecting = {
  expectedLastSeq: described(
    Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
    "The `lastSeq` that the feed has to have, else it is 409 `feed_conflict`. Absent: any."
  )
}

export const FeedAppend = Schema.Struct({ messages: someOf(FeedMessageInput), ...expecting }).annotate({
  identifier: "FeedAppend"
})
export type FeedAppend = typeof FeedAppend.Type

/** The same of an agent: what happens outside only triggers tell of. */
export const AgentFeedAppend = Schema.Struct({ messages: someOf(Schema.Struct(ownFields)), ...expecting })

export const FeedAppended = Schema.Struct({
  messages: described(
    Schema.Array(
      Schema.Struct({
        seq: described(Schema.Int, "Seq of the message."),
        duplicate: described(
          Schema.optionalKey(Schema.Boolean),
          "True where its `dedupeKey` was there already: the seq belongs to the message that has it."
        )
      })
    ),
    "One answer for each message that was sent, in their order."
  ),
  startSeq: described(Schema.optionalKey(Schema.Int), "Seq of the first message that was written. Absent: none was."),
  endSeq: described(Schema.optionalKey(Schema.Int), "Seq of the last message that was written.")
}).annotate({ identifier: "FeedAppended" })
export type FeedAppended = typeof FeedAppended.Type

export const FeedMessage = Schema.Struct({
  seq: described(Schema.Int, "Place of the message in its feed, from 1, without gaps."),
  feedId: described(Schema.String, "Feed of the message."),
  text: described(Schema.String, says.text),
  tags: described(Schema.Array(Schema.String), says.tags),
  data: described(Schema.optionalKey(Schema.Unknown), says.data),
  dedupeKey: described(Schema.optionalKey(Schema.String), says.dedupeKey),
  principal: described(Principal, "Who appended it."),
  origin: described(Schema.optionalKey(Origin), says.origin),
  appendedAt: described(Timestamp, "When it was appended.")
}).annotate({ identifier: "FeedMessage" })
export type FeedMessage = typeof FeedMessage.Type
