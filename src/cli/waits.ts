/** `troupe waits`, `approve` and `deny`: what waits for somebody, and the word that it waits for. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { at, connected, field, list, request } from "./client.ts"
import { output, print } from "./output.ts"
import { limit, threadId } from "./threads.ts"

const shownChars = 80

/** What is to be approved, as far as it fits into a line; `-o json` shows all of it. */
const brief = (value: unknown) => {
  const text = value === undefined ? "" : JSON.stringify(value)
  return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
}

export const waits = Command.make("waits", { limit, output }, Effect.fn("cli.waits")(function*({ limit, output }) {
  const answer = yield* request(yield* connected, `/v1/threads?state=waiting&limit=${limit}`)
  const rows = list(answer, "threads").flatMap((row) =>
    list(row, "pendingWaits").map((wait) => [
      field(row, "thread", "id"), field(wait, "id"), field(wait, "type"), field(wait, "target"), field(wait, "expiresAt"),
      field(wait, "toolName") || field(wait, "point"), brief(at(wait, "toolInput"))
    ]))
  yield* print(output, answer, ["thread", "wait", "type", "target", "expires", "about", "input"], rows)
})).pipe(Command.withDescription("What waits for a person or a client"))

const wait = Argument.String("wait").pipe(Argument.withDescription("wait_…, as `troupe waits` lists it"))
const reason = Flag.String("reason").pipe(Flag.optional, Flag.withDescription("Why: the log keeps it"))

const decide = Effect.fn("cli.decide")(function*(
  thread: string, wait: string, said: { readonly decision: "allow" | "deny"; readonly scope?: "once" | "thread" }, reason: Option.Option<string>, output: "table" | "json"
) {
  const answer = yield* request(yield* connected, `/v1/threads/${encodeURIComponent(thread)}/waits/${encodeURIComponent(wait)}/resolve`, {
    type: "decision", ...said, ...Option.isSome(reason) && { reason: reason.value }
  })
  yield* print(output, answer, ["wait", "outcome", "seq"], [[field(answer, "wait", "id"), field(answer, "wait", "waitResult", "outcome"), field(answer, "seq")]])
})

export const approve = Command.make("approve", {
  threadId, wait, reason, output,
  scope: Flag.Literals("scope", ["once", "thread"]).pipe(
    Flag.withDefault("once"), Flag.withDescription("thread: the same hook or role does not ask again about this tool in this thread")
  )
}, Effect.fn("cli.approve")(function*({ output, reason, scope, threadId, wait }) {
  yield* decide(threadId, wait, { decision: "allow", ...scope === "thread" && { scope } }, reason, output)
})).pipe(Command.withDescription("Allow what a hook or a role asks about"))

export const deny = Command.make("deny", { threadId, wait, reason, output }, Effect.fn("cli.deny")(function*({ output, reason, threadId, wait }) {
  yield* decide(threadId, wait, { decision: "deny" }, reason, output)
})).pipe(Command.withDescription("Deny what a hook or a role asks about"))
