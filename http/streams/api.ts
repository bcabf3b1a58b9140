/** The three Server-Sent Events endpoints: best-effort activity (contract C21.1). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { access } from "../access.ts"
import { int64 } from "../parameters.ts"
import { hintFrames, framesText, threadFrames } from "./examples.ts"
import { frameTypes, HintFrame, ThreadFrame } from "./schemas.ts"
import { ActorId, AgentId, ThreadId } from "../../src/domain/resourceIds.ts"

const Types = described(
  Schema.optional(
    Schema.String.check(
      Schema.makeFilter(
        (text) =>
          text.split(",").every((name) => frameTypes.some((type) => type === name)) ||
          `frame names, separated by commas: ${frameTypes.join(", ")}`,
        {
          toJsonSchema: () => ({ pattern: `^(?:${frameTypes.join("|")})(?:,(?:${frameTypes.join("|")}))*$` })
        }
      )
    )
  ),
  `Which frames to send: names with commas between them, such as \`event,status\`. There are ` +
    `${frameTypes.map((name) => `\`${name}\``).join(", ")}. \`ready\`, \`gap\` and \`bye\` come in any case. ` +
    `Absent: all, but \`delta\` and \`discard\` only with \`deltas\`, \`progress\` only in the stream of one ` +
    "thread, and `step` only where it is named: in the stream of one thread, and in the workspace's with `actorId`."
)
const Deltas = described(
  Schema.optional(Schema.Literal("text")),
  "With `text`, also the text of responses while models write it: frames `delta`, and `discard` where it comes " +
    "to nothing."
)

/** With what a stream sends, as `curl -N` shows it. */
const describe = (summary: string, description: string, frames: string) =>
  OpenApi.annotations({ summary, description: `${description}\n\n\`\`\`text\n${frames}\`\`\`` })

export const StreamsApi = HttpApiGroup.make("streams")
  .add(
    HttpApiEndpoint.get("thread", "/threads/:threadId/events/stream", {
      params: { threadId: ThreadId },
      query: {
        types: Types,
        deltas: Deltas,
        afterSeq: described(
          Schema.optional(int64),
          "Seq behind which to begin: the log is replayed from there, without gaps. Absent: from what happens now on."
        )
      },
      headers: {
        "last-event-id": described(
          Schema.optional(int64),
          "Id of the last frame that the client has seen, sent when it comes back. It goes before " + "`afterSeq`."
        )
      },
      success: HttpApiSchema.StreamSse({ events: ThreadFrame })
    })
      .annotateMerge(access("read", { trigger: true }))
      .annotateMerge(
        describe(
          "Follow a thread",
          "`ready`, then whole events with their seq as id, and hints. With `afterSeq` or `Last-Event-ID` the " +
            "log is replayed from there without gaps, and so are the steps where `types` names `step`.",
          framesText(threadFrames)
        )
      ),
    HttpApiEndpoint.get("agent", "/agents/:agentId/events/stream", {
      params: { agentId: AgentId },
      query: { types: Types, deltas: Deltas },
      success: HttpApiSchema.StreamSse({ events: HintFrame })
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        describe(
          "Follow an agent",
          "Hints of all its threads. No replay: read the log where it matters.",
          framesText(hintFrames)
        )
      ),
    HttpApiEndpoint.get("workspace", "/events/stream", {
      query: {
        types: Types,
        deltas: Deltas,
        agentId: described(Schema.optional(AgentId), "Only threads of this agent."),
        actorId: described(
          Schema.optional(ActorId),
          "Where `types` names `step`: also the steps of this actor. Of an identity the scope is `admin`. " +
            "`GET /v1/actors/{actorId}/steps` behind the last known `pos` is the record."
        )
      },
      success: HttpApiSchema.StreamSse({ events: HintFrame })
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        describe(
          "Follow the workspace",
          "Hints of all threads, or of one agent's. No replay: read the log where it matters.",
          framesText(hintFrames)
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      description: "Server-Sent Events: best-effort hints of activity, and the log of one thread as it grows."
    })
  )
