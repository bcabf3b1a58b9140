/**
 * The family `thread`: the thread that the agent acts in, and no other.
 *
 * Z1. The log shows what happened, not what hooks have kept from the model: neither the words of messages, which a hook
 *     may have put others in the place of, nor what a client answered before it was judged, nor what a hook said to
 *     people.
 */
import { Effect, Schema } from "effect"
import { AnyEvent } from "../../../../src/domain/event.ts"
import { limits } from "../../../../src/domain/limits.ts"
import { Principal } from "../../../../src/domain/principal.ts"
import { ThreadPatch } from "../../../../src/threads/threadInput.ts"
import { utf8Bytes } from "../../../../src/domain/text.ts"
import { threadDetail } from "../../../../src/threads/detail.ts"
import type { ThreadModel } from "../../../../src/threads/shownModel.ts"
import { edited } from "../../../../src/threads/edit.ts"
import type { ThreadReads } from "../../../../src/threads/ThreadReads.ts"
import { readAttributes, threadRows } from "../../../../src/threads/view.ts"
import { cutOutput } from "../../../../src/tools/output.ts"
import type { ToolApproval } from "../approval.ts"
import { builtIn, type Family, noParameters, toolError } from "../builtIn.ts"
import type { CallBy } from "../../settings.ts"

export interface OwnThread {
  readonly approval: ToolApproval
  readonly reads: ThreadReads["Service"]
  readonly modelOf: ThreadModel
  /** Milliseconds by the journal's clock. */
  readonly now: () => number
}

const mostEvents = 50
const usualEvents = 20
/** Of one event, and of all that one call gets. */
const eventBytes = 8 * 1024
const pageBytes = 64 * 1024

const readEvent = Schema.decodeUnknownSync(AnyEvent)

const readResult = Schema.decodeUnknownSync(
  Schema.Struct({ outcome: Schema.String, by: Schema.optionalKey(Principal) })
)

/** Z1, and without what is the same in all of them. */
const shown = (text: string) => {
  const { content, eventId, hook, providerToolCallId, threadId, waitResult, ...event } = readEvent(JSON.parse(text))
  const { reason, ...decision } = hook ?? {}
  return {
    ...event,
    ...(content === undefined || event.type === "user_message" ? {} : { content }),
    ...(hook === undefined ? {} : { hook: decision }),
    ...(waitResult === undefined ? {} : { waitResult: readResult(waitResult) })
  }
}

/** As many from the front as fit; the first always. */
const fitting = (events: ReadonlyArray<unknown>) => {
  let bytes = 0
  const end = events.findIndex((event, i) => {
    bytes += utf8Bytes(JSON.stringify(event))
    return bytes > pageBytes && i > 0
  })
  return end === -1 ? events : events.slice(0, end)
}

const gone = toolError("The thread could not be found.")

export const threadFamily = ({ approval, modelOf, now, reads }: OwnThread): Family => {
  const get = Effect.fnUntraced(function* (by: CallBy, toolCallId: string) {
    const { threadId, workspace } = by
    const found = yield* reads.detail(workspace, threadId)
    if (found === undefined) return gone
    const parked = yield* approval(by, { action: "thread.read", request: { threadId }, toolCallId })
    if (parked !== undefined) return parked
    const rows = threadRows(workspace, found, found.inputs)
    const { inFlightWaitIds, pendingWaits, queued, ...detail } = threadDetail(
      rows,
      { ...found.spend, at: now() },
      yield* modelOf(rows)
    )
    return { output: { ...detail, openWaits: pendingWaits.length, queued: queued.length } }
  })

  const rename = Effect.fnUntraced(function* ({ agentId, threadId, workspace }: CallBy, patch: ThreadPatch) {
    const found = yield* reads.detail(workspace, threadId)
    if (found === undefined) return gone
    return yield* edited(
      readAttributes(found.attributes),
      patch,
      { type: "agent", id: agentId },
      Math.floor(now())
    ).pipe(
      Effect.flatMap((attributes) =>
        reads.updateAttributes(workspace, threadId, () => JSON.stringify(attributes), found.version)
      ),
      Effect.map((written) => {
        if (written === undefined) return gone
        const { metadata, title } = readAttributes(written.attributes)
        return {
          output: { ...(title === undefined ? {} : { title }), ...(metadata === undefined ? {} : { metadata }) }
        }
      }),
      Effect.catchTags({
        SchemaError: ({ message }) =>
          Effect.succeed({ failure: { code: "tool_input_invalid" as const, text: message } }),
        VersionConflict: () =>
          Effect.succeed(toolError("Somebody else has changed the thread at the same moment. Try again."))
      })
    )
  })

  const events = Effect.fnUntraced(function* (
    { threadId, workspace }: CallBy,
    { afterSeq, limit = usualEvents }: { readonly afterSeq?: number; readonly limit?: number }
  ) {
    const newest = afterSeq === undefined
    const page = yield* reads.events({
      workspace,
      threadId,
      limit,
      ...(newest ? { order: "desc" } : { order: "asc", afterSeq })
    })
    if (page === undefined) return gone
    const fit = fitting(page.events.map((text) => cutOutput(shown(text), eventBytes)))
    return { output: { events: newest ? fit.toReversed() : fit, lastSeq: page.lastSeq } }
  })

  return {
    name: "thread",
    description:
      "This conversation's own thread: its status, title, metadata, cost and usage, and the log of what has " +
      "happened in it.",
    tools: [
      builtIn({
        name: "thread.get",
        description:
          "Gets this thread: title, metadata, status, usage, what its agent has spent, how many messages are " +
          "queued and how many waits are open.",
        input: noParameters,
        readOnly: true,
        run: (by, _, toolCallId) => get(by, toolCallId)
      }),
      builtIn({
        name: "thread.rename",
        description:
          "Changes this thread's title and metadata, by which people find it. What is left out stays, null takes " +
          "it away; metadata is merged key by key.",
        input: Schema.Struct({
          title: ThreadPatch.fields.title.annotate({
            description: `At most ${limits.threadTitleChars} characters, one line.`
          }),
          metadata: ThreadPatch.fields.metadata.annotate({
            description:
              `At most ${limits.metadataPairs} pairs in all; keys of at most ${limits.metadataKeyChars}, values ` +
              `(texts) of at most ${limits.metadataValueChars} characters.`
          })
        }),
        readOnly: false,
        idempotent: true,
        run: rename
      }),
      builtIn({
        name: "thread.events",
        description:
          "Reads this thread's log, in order: when what happened, tool calls with inputs and results, failures, " +
          "usage. The newest events, or those after " +
          "a seq; to go on, ask for those after the last one's seq, until it is lastSeq. Long events are cut. " +
          "What users said is in the conversation, not here.",
        input: Schema.Struct({
          afterSeq: Schema.optionalKey(
            Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
              description: "Only events after this seq, oldest first. Left out: the newest."
            })
          ),
          limit: Schema.optionalKey(
            Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostEvents })).annotate({
              description: `How many; ${usualEvents} when left out.`
            })
          )
        }),
        readOnly: true,
        run: events
      })
    ]
  }
}
