/** What models were used for in a workspace. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { AgentId } from "../../src/domain/resourceIds.ts"
import { maxChars, singleLine } from "../../src/domain/text.ts"
import { AnyDay } from "../../src/domain/time.ts"
import { UsageGrouping, UsagePage } from "../../src/usage/usage.ts"
import { access } from "../access.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const UsageApi = HttpApiGroup.make("usage")
  .add(
    HttpApiEndpoint.get("list", "/usage", {
      query: {
        from: described(
          Schema.optional(AnyDay),
          "First day, as a date or a time, which stands for its day in UTC. When absent, 29 days before the last one."
        ),
        to: described(Schema.optional(AnyDay), "Last day, itself included: a date or a time. Today when absent."),
        agentId: described(Schema.optional(AgentId), "Only what this agent pays for. The answer has its budget then."),
        model: described(
          Schema.optional(Schema.String.check(Schema.isMinLength(1), maxChars(limits.selectorChars), singleLine)),
          "Only this model, by its id."
        ),
        groupBy: described(
          Schema.optional(UsageGrouping),
          "Groups of the sums: a list of `day`, `agent` and `model`, separated by commas. `day` when absent."
        ),
        limit: limitOf("usage"),
        cursor: CursorParam
      },
      success: UsagePage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Sum up what models were used for",
          description:
            "Sums of model calls by day, agent and model, newest day first, over at most 366 days. A call counts for " +
            "the agent whose budget pays for it, on the day in UTC on which its outcome was recorded. Nodes write " +
            "what they have counted every second: a node that dies may lose a second of it. The `usage` of " +
            "threads and budgets are exact."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Calls, tokens and cost of models, by day, agent and model." }))
