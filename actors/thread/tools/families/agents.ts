/**
 * The family `agents`: the workspace's other agents, and questions to them.
 *
 * A1. A question is asked once, however often the call runs: its thread and its message have ids that derive from the
 *     call.
 * A2. Questions lead from thread to thread at most `askDepth` times, so that agents who ask each other come to an end.
 *     A thread that reviews asks nobody: its word would hang on what others say, at the cost of the agent that it
 *     judges.
 */
import { Effect, Schema } from "effect"
import { limits } from "../../../../src/domain/limits.ts"
import { maxBytes, nonBlank } from "../../../../src/domain/text.ts"
import { listAgents, readAgent } from "../../../../src/agents/rows.ts"
import type { Database } from "../../../../src/database/Database.ts"
import type { ToolApproval } from "../approval.ts"
import { begunBy } from "../derivedIds.ts"
import type { Exchange } from "../exchange.ts"
import type { BuiltInOutcome } from "../toolkit.ts"
import { builtIn, type Family, toolError } from "../builtIn.ts"
import { pageFields, pageOf, rowsAsked, shortened } from "./pages.ts"
import { AgentId } from "../../../../src/domain/resourceIds.ts"
import type { CallBy } from "../../settings.ts"

const agentId = AgentId.annotate({ description: "Id of the agent, agt_…; agents.list has them." })

const noAgent = (id: string) => toolError(`There is no agent ${id}.`)

export const agentsFamily = (database: Database["Service"], exchange: Exchange, approval: ToolApproval): Family => {
  const ask = Effect.fnUntraced(function* (
    by: CallBy,
    input: { readonly agentId: string; readonly message: string },
    toolCallId: string
  ) {
    const depth = (by.asked?.depth ?? 0) + 1
    if (by.reviews !== undefined) return toolError("A thread that reviews another agent's work asks no other agents.")
    if (depth > limits.askDepth)
      return toolError(
        `This question came through ${limits.askDepth} other agents already: no further one can be asked.`
      )
    const known = yield* database.run("agents.ask", (db) => readAgent(db, by.workspace, input.agentId))
    if (known === undefined) return noAgent(input.agentId)
    const threadId = begunBy("thread", toolCallId)
    const { identity } = by.principal ?? {}
    return yield* exchange({
      workspace: by.workspace,
      agentId: input.agentId,
      text: input.message,
      ...(by.hops === 0 ? {} : { hops: by.hops }),
      asker: by.threadId,
      threadId,
      inputId: begunBy("input", toolCallId),
      principal: { type: "agent", id: by.agentId, ...(identity === undefined ? {} : { identity }) },
      born: {
        asked: { agentId: by.agentId, threadId: by.threadId, depth, toolCallId },
        spendsWithin: [by.threadId, ...(by.spendsWithin ?? [])],
        ...(by.identity === undefined ? {} : { identity: by.identity })
      }
    }).pipe(
      Effect.match({
        onSuccess: ({ finishReason, text, usage }): BuiltInOutcome => ({
          output: { threadId, text, ...(finishReason === undefined ? {} : { finishReason }) },
          usage
        }),
        onFailure: ({ usage, why }): BuiltInOutcome => ({
          ...toolError(`The agent's turn in ${threadId} ${why}`),
          ...(usage === undefined ? {} : { usage })
        })
      })
    )
  })

  const get = Effect.fnUntraced(function* (by: CallBy, agentId: string, toolCallId: string) {
    const found = yield* database.run("agents.get", (db) => readAgent(db, by.workspace, agentId))
    if (found === undefined) return noAgent(agentId)
    const parked = yield* approval(by, { action: "agent.read", agentId, request: { agentId }, toolCallId })
    if (parked !== undefined) return parked
    const { archivedAt, createdAt, description, id, name, profileId, tags } = found.agent
    return {
      output: {
        id,
        name,
        ...(description === undefined ? {} : { description }),
        tags,
        profileId,
        createdAt,
        ...(archivedAt === undefined ? {} : { archivedAt })
      }
    }
  })

  return {
    name: "agents",
    description: "The other agents of this workspace: find one by what it does, and ask it to do a part of the work.",
    tools: [
      builtIn({
        name: "agents.list",
        description:
          "Lists the workspace's agents, newest first: id, name, what each is for, tags. Archived ones are left out.",
        input: Schema.Struct(pageFields),
        readOnly: true,
        run: ({ workspace }, input) =>
          Effect.map(
            database.run("agents.list", (db) =>
              listAgents(db, workspace, { includeArchived: false, ...rowsAsked(input) })
            ),
            (found) => {
              const { rows, ...more } = pageOf(input, found)
              return {
                output: {
                  agents: rows.map(({ createdAt, description, id, name, tags }) => ({
                    id,
                    name,
                    ...(description === undefined ? {} : { description: shortened(description) }),
                    tags,
                    createdAt
                  })),
                  ...more
                }
              }
            }
          )
      }),
      builtIn({
        name: "agents.get",
        description:
          "Gets one agent of the workspace: name, whole description, tags, profile, and whether it was archived.",
        input: Schema.Struct({ agentId }),
        readOnly: true,
        run: (by, { agentId }, toolCallId) => get(by, agentId, toolCallId)
      }),
      builtIn({
        name: "agents.ask",
        description:
          "Asks another agent one question, or gives it one task, and waits for its answer. It knows nothing of " +
          "this conversation: " +
          "say all that it needs. It works in a thread of its own, with its own tools. Answers its final text " +
          "and the id of that thread; " +
          "with finishReason length or content_filter, the text was cut.",
        input: Schema.Struct({
          agentId,
          message: Schema.String.check(nonBlank, maxBytes(limits.userTextBytes)).annotate({
            description: "The question or task, complete in itself."
          })
        }),
        readOnly: false,
        idempotent: true,
        asksAgent: true,
        run: ask
      })
    ]
  }
}
