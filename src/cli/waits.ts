/** `troupe waits`, `approve` and `deny`: what waits for somebody, and the word that it waits for. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { at, connected, field, listIn, request } from "./client.ts"
import { confirm, isInteractive } from "./confirm.ts"
import { failure } from "./failure.ts"
import { type Output, output, print, table } from "./output.ts"
import { printableJson } from "./printable.ts"
import { limit, threadId } from "./threads.ts"

const shownChars = 80

/** What is to be approved, as far as it fits into a line. A cut says that it is one. */
export const brief = (value: unknown) => {
  const text = value === undefined ? "" : JSON.stringify(value)
  return text.length > shownChars
    ? `${text.slice(0, shownChars)}… (${text.length - shownChars} more characters: troupe approve and -o json show all)`
    : text
}

export const waits = Command.make(
  "waits",
  { limit, output },
  Effect.fn("cli.waits")(function* ({ limit, output }) {
    const answer = yield* request(yield* connected, `/v1/threads?state=waiting&limit=${limit}`)
    const rows = listIn(answer, "threads").flatMap((row) =>
      listIn(row, "pendingWaits").map((wait) => [
        field(row, "thread", "id"),
        field(wait, "id"),
        field(wait, "type"),
        field(wait, "target"),
        field(wait, "expiresAt"),
        field(wait, "toolName") || field(wait, "point"),
        brief(at(wait, "toolInput"))
      ])
    )
    yield* print(output, answer, ["thread", "wait", "type", "target", "expires", "about", "input"], rows)
  })
).pipe(Command.withDescription("List the waits for a person or a client"))

const wait = Argument.String("wait").pipe(Argument.withDescription("wait_…, as `troupe waits` lists it"))
const reason = Flag.String("reason").pipe(Flag.optional, Flag.withDescription("Why: the log keeps it"))

const path = (thread: string, wait: string) =>
  `/v1/threads/${encodeURIComponent(thread)}/waits/${encodeURIComponent(wait)}`

/** All that is decided about, to its last character. */
export const shownWait = (wait: unknown) => {
  const about = field(wait, "toolName") || field(wait, "point")
  const rows = [
    ["wait", field(wait, "id")],
    ["type", field(wait, "type")],
    ["about", about],
    ["reason", field(wait, "reason")],
    ["expires", field(wait, "expiresAt")]
  ].filter(([, value]) => value !== "")
  const whole = ["toolInput", "toolOutput", "content"].flatMap((name) => {
    const value = at(wait, name)
    return value === undefined ? [] : [`${name}:\n${printableJson(value, 2)}`]
  })
  return [table(["field", "value"], rows), ...whole].join("\n\n")
}

/** What is approved was seen first, or somebody says that it need not be. */
const agreed = Effect.fn("cli.agreed")(function* (thread: string, wait: string) {
  if (!isInteractive())
    return yield* failure("Nobody can be asked here: look at what waits with `troupe waits -o json`, and give --yes.")
  const answer = yield* request(yield* connected, path(thread, wait))
  yield* Console.error(shownWait(at(answer, "wait")))
  if (!(yield* confirm("\nAllow it?"))) return yield* failure("Nothing was decided: the wait is still open.")
})

const decide = Effect.fn("cli.decide")(function* (
  thread: string,
  wait: string,
  said: { readonly decision: "allow" | "deny"; readonly scope?: "once" | "thread" },
  reason: Option.Option<string>,
  output: Output
) {
  const answer = yield* request(yield* connected, `${path(thread, wait)}/resolve`, {
    type: "decision",
    ...said,
    ...(Option.isSome(reason) && { reason: reason.value })
  })
  yield* print(
    output,
    answer,
    ["wait", "outcome", "seq"],
    [[field(answer, "wait", "id"), field(answer, "wait", "waitResult", "outcome"), field(answer, "seq")]]
  )
})

export const approve = Command.make(
  "approve",
  {
    threadId,
    wait,
    reason,
    output,
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDefault(false),
      Flag.withDescription("Allow it unseen: where nobody can be asked")
    ),
    scope: Flag.Literals("scope", ["once", "thread"]).pipe(
      Flag.withDefault("once"),
      Flag.withDescription("thread: the same hook or role does not ask again about this tool in this thread")
    )
  },
  Effect.fn("cli.approve")(function* ({ output, reason, scope, threadId, wait, yes }) {
    if (!yes) yield* agreed(threadId, wait)
    yield* decide(threadId, wait, { decision: "allow", ...(scope === "thread" && { scope }) }, reason, output)
  })
).pipe(Command.withDescription("Show what a hook or a role asks about, and allow it"))

export const deny = Command.make(
  "deny",
  { threadId, wait, reason, output },
  Effect.fn("cli.deny")(function* ({ output, reason, threadId, wait }) {
    yield* decide(threadId, wait, { decision: "deny" }, reason, output)
  })
).pipe(Command.withDescription("Deny what a hook or a role asks about"))
