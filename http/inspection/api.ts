/** Actors on their charts (contract C46.2 to C46.4): the steps that one took, and where it stood after each. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { ActorId } from "../../src/domain/resourceIds.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../access.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { int64 } from "../parameters.ts"

const StepFact = Schema.Struct({
  type: described(Schema.String, "Type of the fact: for events their type, for others their name in the journal."),
  seq: described(Schema.optionalKey(Schema.Int), "Seq of the event. Absent where the fact is no event.")
}).annotate({ identifier: "StepFact" })

const State = (what: string) => described(Schema.String, `Path of the state that it ${what}.`)

export const ActorStep = Schema.Struct({
  pos: described(Schema.Int, "Position of its last fact in the actor's log."),
  fromPos: described(Schema.Int, "Position of its first fact."),
  at: described(Timestamp, "When it was taken."),
  cause: described(
    Schema.String,
    "The event of the chart that it was taken for; `unknown` where an older version has written it."
  ),
  from: State("was left in"),
  to: State("led to"),
  path: described(Schema.Array(Schema.String), "The states that were entered, in order. Empty where none was."),
  turnId: described(Schema.optionalKey(Schema.String), "The turn that it belongs to. Absent where it belongs to none."),
  fromSeq: described(Schema.optionalKey(Schema.Int), "Seq of its first event. Absent without events."),
  toSeq: described(Schema.optionalKey(Schema.Int), "Seq of its last event. Absent without events."),
  facts: described(Schema.Array(StepFact), "Facts that were written, in order.")
}).annotate({ identifier: "ActorStep" })
export type ActorStep = typeof ActorStep.Type

export const ActorStepPage = Schema.Struct({
  steps: described(Schema.Array(ActorStep), "Steps of this page, in the order asked for."),
  nextCursor: NextCursor
}).annotate({ identifier: "ActorStepPage" })

const Actor = Schema.Struct({
  id: described(Schema.String, "Id of the actor."),
  kind: described(Schema.String, "Kind of the actor."),
  status: described(Schema.String, "Its status, as of now."),
  pos: described(Schema.Int, "Position of the last fact in its log."),
  lastSeq: described(Schema.Int, "Seq of its last event."),
  epoch: described(Schema.Int, "How often a node has taken it."),
  live: described(Schema.Boolean, "A node lives with it."),
  runnableAt: described(Schema.optionalKey(Timestamp), "From when it has something to do. Absent at rest."),
  node: described(Schema.optionalKey(Schema.String), "The node that lives with it: for keys with the scope admin.")
}).annotate({ identifier: "Actor" })

const text = (says: string) => described(Schema.optionalKey(Schema.String), says)
const number = (says: string) => described(Schema.optionalKey(Schema.Int), says)

const Doing = Schema.Struct({
  type: described(
    Schema.String,
    "Kind of the work: for a thread `sample`, `summarise`, `runTool`, `askHook`, `pause` or `wait`; for others a job."
  ),
  since: described(Timestamp, "Since when."),
  step: number("Number of the response in the turn."),
  attempt: described(
    Schema.optionalKey(Schema.Union([Schema.Int, Schema.String])),
    "Number of the attempt, or name of the round of compaction."
  ),
  modelId: text("The model that is asked."),
  toolCallId: text("Id of the call."),
  toolName: text("The tool that runs."),
  hookIndex: number("Index of the hook."),
  point: text("The point at which the hook is asked."),
  until: text("When it ends, at the latest."),
  waitId: text("Id of the wait."),
  target: text("Who is to answer."),
  expiresAt: text("When the wait expires."),
  runId: text("Id of the schedule's run."),
  threadId: text("The thread that it is about."),
  turnId: text("The turn that it is about."),
  inputId: text("The message that it submits."),
  version: number("The version of the subscription that its feed is told of."),
  look: number("Number of the subscription's look at its feed.")
}).annotate({ identifier: "ActorDoing" })

const Possible = Schema.Struct({
  event: described(Schema.String, "An event of the chart."),
  targets: described(Schema.Array(Schema.String), "States that it may lead to. Empty where none is left."),
  refusedBy: text("The guard, or the error's word, that refuses it now.")
}).annotate({ identifier: "ActorPossible" })

export const ActorChart = Schema.Struct({
  actor: described(Actor, "The actor, as of now."),
  chart: described(
    Schema.Struct({
      kind: described(Schema.String, "The chart that it runs by."),
      version: described(Schema.String, "Its version on the node that answers.")
    }),
    "The chart, as `/v1/charts/{kind}` shows it."
  ),
  step: described(Schema.optionalKey(ActorStep), "The step that led there. Absent at birth."),
  state: described(Schema.String, "Path of the state."),
  doing: described(Schema.Array(Doing), "Work under way in the state."),
  context: described(
    Schema.Record(Schema.String, Schema.Unknown),
    "The actor's knowledge, without anybody's words: for a thread its `turn` with its calls and, as of now, `pending`."
  ),
  possible: described(Schema.optionalKey(Schema.Array(Possible)), "Events that may come next. Only as of now.")
}).annotate({ identifier: "ActorChart" })
export type ActorChart = typeof ActorChart.Type

const params = {
  actorId: ActorId
}

export const ActorsApi = HttpApiGroup.make("actors")
  .add(
    HttpApiEndpoint.get("steps", "/actors/:actorId/steps", {
      params,
      query: {
        afterPos: described(
          Schema.optional(int64),
          "Position behind which to begin: only steps that end after it. Not together with `cursor` or `order=desc`."
        ),
        order: described(
          Schema.optional(Schema.Literals(["asc", "desc"])),
          "By position, upwards or downwards. `asc` when absent."
        ),
        limit: limitOf("actorSteps"),
        cursor: CursorParam
      },
      success: ActorStepPage
    })
      .annotateMerge(access(["read", "admin"]))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List an actor's steps",
          description:
            "A step for each command that wrote something. For an identity the scope is `admin`. A step is read " +
            "from the log: past steps are described by the chart of the node that answers."
        })
      ),
    HttpApiEndpoint.get("chart", "/actors/:actorId/chart", {
      params,
      query: {
        seq: described(Schema.optional(int64), "After the step that wrote this event. Not together with `pos`."),
        pos: described(Schema.optional(int64), "After the step that wrote the fact at this position; 0 is the birth.")
      },
      success: ActorChart
    })
      .annotateMerge(access(["read", "admin"]))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an actor on its chart",
          description:
            "Where it stands now, or stood after one of its steps, what went on there, and what may come next. Of an " +
            "identity the scope is `admin`."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Actors on their charts, now and at any past moment." }))
