/**
 * A call that its server runs as a task: begun, asked about until it is over, and its result fetched.
 *
 * W1. An interrupt, even while the task is being created, cancels it at the server.
 * W2. Once a task is begun, a failure to hear of it is no word on its outcome: it is `lost`, unless the server itself
 *     says how it ended.
 */
import { type CallToolResult, type Client, specTypeSchemas } from "@modelcontextprotocol/client"
import { Effect, Fiber, Schedule, Schema, type Scope } from "effect"
import { isJsonObject } from "../../domain/jsonValue.ts"
import { limits } from "../../domain/limits.ts"
import { type Tool, ownName } from "../Tool.ts"
import { failureWith, McpFailure } from "./McpFailure.ts"
import { attempt } from "./thrown.ts"
import { answerWithin } from "./transport.ts"
import { type CallRequest, metaOf } from "./callRequest.ts"
import { wantsInput } from "./unsupported.ts"

/** How long a server should keep the result beyond the time that the call has. */
const keepMs = 60_000
const pauseMs = { least: 100, usual: 1_000, most: 5_000 }
const cancelMs = 10_000
/** A question about a task that failed on its way is asked again, a few times. */
const asksAgain = 3

const Task = Schema.Struct({
  taskId: Schema.String,
  status: Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"]),
  statusMessage: Schema.optionalKey(Schema.NullOr(Schema.String)),
  pollInterval: Schema.optionalKey(Schema.NullOr(Schema.Finite))
})
type Task = typeof Task.Type
const state = Schema.toStandardSchemaV1(Task)
const created = Schema.toStandardSchemaV1(Schema.Struct({ task: Task }))
const anything = Schema.toStandardSchemaV1(Schema.Unknown)

const pauseOf = ({ pollInterval }: Task) =>
  Math.min(pauseMs.most, Math.max(pauseMs.least, pollInterval ?? pauseMs.usual))

const isPassing = ({ reason }: McpFailure) => reason === "unreachable" || reason === "lost" || reason === "timeout"

/** W2. */
const unheard = (failure: McpFailure) =>
  failureWith(failure, { reason: "lost", message: `nothing more is heard of the task: ${failure.message}` })

const ended = (said: string, { statusMessage }: Task) =>
  new McpFailure({ reason: "refused", message: statusMessage ? `${said}: ${statusMessage.slice(0, 2_000)}` : said })

const about = { timeout: limits.mcpProbeMs }
const cancelTask = (client: Client, taskId: string) =>
  attempt((signal) =>
    client.request({ method: "tasks/cancel", params: { taskId } }, anything, { ...about, signal })
  ).pipe(Effect.timeoutOption(cancelMs), Effect.ignore)

/** Asks until the task is over, and fetches its result. */
const watchTask = Effect.fnUntraced(function* (client: Client, scope: Scope.Scope, begun: Task) {
  const { taskId } = begun
  const ask = attempt((signal) =>
    client.request({ method: "tasks/get", params: { taskId } }, state, { ...about, signal })
  )
  const fetchResult = attempt(
    (signal): Promise<CallToolResult> =>
      client.request({ method: "tasks/result", params: { taskId } }, specTypeSchemas.CallToolResult, {
        ...about,
        signal
      })
  )
  const retrying = (task: Task) => ({ while: isPassing, times: asksAgain, schedule: Schedule.spaced(pauseOf(task)) })

  let task = begun
  while (task.status === "working") {
    yield* Effect.sleep(pauseOf(task))
    task = yield* ask.pipe(Effect.retry(retrying(task)), Effect.mapError(unheard))
  }
  const { status } = task
  if (status === "input_required") {
    yield* Effect.forkIn(cancelTask(client, taskId), scope)
    return yield* new McpFailure({ reason: "refused", message: wantsInput })
  }
  if (status === "cancelled") return yield* ended("the server has cancelled the task", task)
  return yield* fetchResult.pipe(
    Effect.retry(retrying(task)),
    // Of one that has failed it is known how it ended, though it has no result.
    Effect.mapError((failure) =>
      status === "failed" ? ended(`the task has failed: ${failure.message}`, task) : unheard(failure)
    )
  )
})

/** In the scope of the session: what has to be said to the server is said there, though the caller is gone. */
export const runAsTask = Effect.fnUntraced(function* (
  client: Client,
  scope: Scope.Scope,
  tool: Tool,
  { input, ...given }: CallRequest
) {
  const { toolCallId } = given
  const create = attempt((signal) =>
    client.request(
      {
        method: "tools/call",
        params: {
          name: ownName(tool),
          ...(isJsonObject(input) && { arguments: input }),
          _meta: metaOf(given),
          task: { ttl: tool.timeoutMs + keepMs }
        }
      },
      created,
      {
        signal,
        timeout: tool.timeoutMs,
        headers: { "idempotency-key": toolCallId, [answerWithin]: String(tool.timeoutMs) }
      }
    )
  )

  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const creating = yield* Effect.forkIn(Effect.interruptible(create), scope)
      const dropUnborn = Fiber.join(creating).pipe(
        Effect.flatMap(({ task }) => cancelTask(client, task.taskId)),
        Effect.timeoutOption(cancelMs),
        Effect.ensuring(Fiber.interrupt(creating)),
        Effect.ignore,
        Effect.interruptible
      )
      const { task } = yield* restore(Fiber.join(creating)).pipe(
        Effect.onInterrupt(() => Effect.forkIn(dropUnborn, scope))
      )
      return yield* restore(watchTask(client, scope, task)).pipe(
        Effect.onInterrupt(() => Effect.forkIn(Effect.interruptible(cancelTask(client, task.taskId)), scope))
      )
    })
  )
})
