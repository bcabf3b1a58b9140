/** Charts as data (contract C46.1): what the actors of this server run by, for those who draw them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { chartKinds } from "../../src/domain/chartKinds.ts"
import { described } from "../../src/domain/described.ts"
import { access } from "../access.ts"

const State = Schema.Struct({
  id: described(Schema.String, "Path of the state, such as `running.sampling`."),
  parent: described(Schema.optionalKey(Schema.String), "The state that it is a part of. Absent for states at the top."),
  initial: described(Schema.optionalKey(Schema.String), "A state with parts begins in this part."),
  description: described(Schema.String, "The state's meaning.")
}).annotate({ identifier: "ChartState" })

const Transition = Schema.Struct({
  id: described(Schema.String, "Id of the transition within the chart."),
  source: described(Schema.String, "The state that it is one of. Empty: of any state."),
  target: described(Schema.optionalKey(Schema.String), "The state that it leads to. Absent where none is left."),
  event: described(
    Schema.optionalKey(Schema.String),
    "Event that the transition is taken on. Absent: it is taken at once."
  ),
  guard: described(
    Schema.optionalKey(Schema.String),
    "Name of the guard that has to hold; where guards are composed, their names with `and`, `or` and `not(…)`."
  ),
  actions: described(Schema.Array(Schema.String), "Names of the actions that it takes."),
  reenter: described(Schema.optionalKey(Schema.Literal(true)), "The state is left, and entered again."),
  description: described(Schema.String, "The transition's meaning.")
}).annotate({ identifier: "ChartTransition" })

export const Chart = Schema.Struct({
  kind: described(Schema.Literals(chartKinds), "Its subject: a kind of actor, a call of a tool, a chain of hooks."),
  version: described(Schema.String, "A hash of the rest: another one is another chart."),
  initial: described(Schema.String, "The state that everything begins in."),
  states: described(Schema.Array(State), "A state stands behind the state that it is a part of."),
  transitions: described(Schema.Array(Transition), "Transitions, for each state in the order in which they are tried.")
}).annotate({ identifier: "Chart" })
export type Chart = typeof Chart.Type

export const ChartList = Schema.Struct({
  charts: described(Schema.Array(Chart), "Every chart of this server.")
}).annotate({ identifier: "ChartList" })

export const ChartAnswer = Schema.Struct({ chart: described(Chart, "The chart.") }).annotate({
  identifier: "ChartAnswer"
})

export const ChartsApi = HttpApiGroup.make("charts")
  .add(
    HttpApiEndpoint.get("list", "/charts", { success: ChartList })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the charts",
          description: "The state charts that threads, subscriptions, schedules and identities run by, as data."
        })
      ),
    HttpApiEndpoint.get("get", "/charts/:kind", {
      params: { kind: described(Schema.String, "Kind of the chart.") },
      success: ChartAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a chart",
          description: "Made from the machine that runs on the node that answers."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "The state charts of actors, as data." }))
