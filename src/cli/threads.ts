/** `troupe threads`, `send` and `tail`: the interface from a terminal. */
import { Console, Effect, Option, Schedule } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { demoAgent } from "../domain/demo.ts"
import { at, connected, type Connected, field, isRefusal, listIn, request } from "./client.ts"
import { type Output, output, print } from "./output.ts"
import { printableJson, printable } from "./printable.ts"

export const threadId = Argument.String("thread").pipe(Argument.withDescription("thr_…"))

export const limit = Flag.Int("limit").pipe(Flag.withDefault(20), Flag.withDescription("At most so many, 200 at most"))

/** The texts of a message's content; of a block without one, its type. */
const textOf = (content: unknown) =>
  Array.isArray(content) ? content.map((block) => field(block, "text") || `[${field(block, "type")}]`).join(" ") : ""

const listThreads = Command.make(
  "list",
  {
    limit,
    output,
    agent: Flag.String("agent").pipe(Flag.optional, Flag.withDescription("Only threads of this agent"))
  },
  Effect.fn("cli.threads.list")(function* ({ limit, output, agent }) {
    const query = new URLSearchParams({ limit: String(limit), ...(Option.isSome(agent) && { agentId: agent.value }) })
    const answer = yield* request(yield* connected, `/v1/threads?${query}`)
    yield* print(
      output,
      answer,
      ["thread", "status", "seq", "updated", "title"],
      listIn(answer, "threads").map((row) => [
        field(row, "thread", "id"),
        field(row, "status"),
        field(row, "lastSeq"),
        field(row, "updatedAt"),
        field(row, "thread", "title")
      ])
    )
  })
).pipe(Command.withDescription("Threads, the last changed first"))

const getThread = Command.make(
  "get",
  { threadId, output },
  Effect.fn("cli.threads.get")(function* ({ threadId, output }) {
    const answer = yield* request(yield* connected, `/v1/threads/${encodeURIComponent(threadId)}`)
    const rows = [
      ["id", field(answer, "thread", "id")],
      ["agent", field(answer, "thread", "agentId")],
      ["title", field(answer, "thread", "title")],
      ["status", field(answer, "status")],
      ["lastSeq", field(answer, "lastSeq")],
      ["model", field(answer, "model")],
      ["queued", String(listIn(answer, "queued").length)],
      ["waits", String(listIn(answer, "pendingWaits").length)],
      ["created", field(answer, "thread", "createdAt")],
      ["updated", field(answer, "updatedAt")]
    ].filter(([, value]) => value !== "")
    yield* print(output, answer, ["field", "value"], rows)
  })
).pipe(Command.withDescription("One thread in detail"))

export const threads = Command.make("threads").pipe(
  Command.withDescription("Threads"),
  Command.withSubcommands([listThreads, getThread])
)

export const send = Command.make(
  "send",
  {
    text: Argument.String("text").pipe(Argument.withDescription("The message")),
    thread: Flag.String("thread").pipe(
      Flag.optional,
      Flag.withDescription("An existing thread; without it a new one is made")
    ),
    agent: Flag.String("agent").pipe(
      Flag.withDefault(demoAgent),
      Flag.withDescription("The agent of a new thread; the demo agent by default")
    ),
    mode: Flag.Literals("mode", ["queue", "steer", "interrupt"]).pipe(
      Flag.optional,
      Flag.withDescription("How the message reaches a turn that is running")
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withAlias("f"),
      Flag.withDefault(false),
      Flag.withDescription("Print what follows until the turn ends")
    ),
    output
  },
  Effect.fn("cli.send")(function* ({ text, thread, agent, mode, follow, output }) {
    const connection = yield* connected
    const content = [{ type: "text", text }]
    if (Option.isNone(thread)) {
      const made = yield* request(connection, "/v1/threads", { agentId: agent, message: { content } })
      const id = field(made, "thread", "id")
      yield* print(
        output,
        made,
        ["thread", "input", "state"],
        [[id, field(made, "input", "id"), field(made, "input", "state")]]
      )
      if (follow) yield* followThread(connection, id, 0, output, true)
      return
    }
    const before = yield* request(connection, `/v1/threads/${encodeURIComponent(thread.value)}`)
    const sent = yield* request(connection, `/v1/threads/${encodeURIComponent(thread.value)}/messages`, {
      content,
      ...(Option.isSome(mode) && { mode: mode.value })
    })
    yield* print(output, sent, ["input", "state"], [[field(sent, "id"), field(sent, "state")]])
    if (follow) yield* followThread(connection, thread.value, Number(field(before, "lastSeq")), output, true)
  })
).pipe(Command.withDescription("Submit a message"))

const ends = new Set(["turn_completed", "turn_failed", "turn_cancelled"])

const line = (event: unknown) => {
  const type = field(event, "type")
  const detail =
    type === "user_message" || type === "assistant_message"
      ? textOf(at(event, "content"))
      : type === "tool_intent"
        ? `${field(event, "toolName")} ${JSON.stringify(at(event, "toolInput") ?? null)}`
        : field(event, "failureCode") || field(event, "code") || field(event, "text")
  const head = printable(
    `${field(event, "seq").padStart(5)}  ${field(event, "occurredAt").slice(11, 23)}  ${type.padEnd(18)}`
  ).replaceAll("\n", " ")
  // No line of a text looks like an event of its own.
  return `${head} ${printable(detail).replaceAll("\n", `\n${" ".repeat(head.length + 1)}`)}`
}

/** For half a minute, unless the server has refused it. */
const retried = {
  schedule: Schedule.spaced("1 second"),
  times: 30,
  while: (failure: Parameters<typeof isRefusal>[0]) => !isRefusal(failure)
}

/** Long polls by seq, so that nothing is missed however often the connection breaks. */
const followThread = Effect.fn("cli.follow")(function* (
  connection: Connected,
  thread: string,
  from: number,
  output: Output,
  untilEnd: boolean
) {
  let afterSeq = from
  for (;;) {
    const page = yield* request(
      connection,
      `/v1/threads/${encodeURIComponent(thread)}/events?afterSeq=${afterSeq}&waitSeconds=20`
    ).pipe(Effect.retry(retried))
    for (const event of listIn(page, "events")) {
      yield* Console.log(output === "json" ? printableJson(event) : line(event))
      afterSeq = Math.max(afterSeq, Number(field(event, "seq")))
      if (untilEnd && ends.has(field(event, "type"))) return
    }
  }
})

export const tail = Command.make(
  "tail",
  {
    threadId,
    after: Flag.Int("after").pipe(Flag.withDefault(0), Flag.withDescription("Only events after this seq")),
    once: Flag.Boolean("once").pipe(Flag.withDefault(false), Flag.withDescription("Stop at the next end of a turn")),
    output
  },
  Effect.fn("cli.tail")(function* ({ threadId, after, once, output }) {
    yield* followThread(yield* connected, threadId, after, output, once)
  })
).pipe(Command.withDescription("Print a thread's events as they happen; resumes by seq"))
