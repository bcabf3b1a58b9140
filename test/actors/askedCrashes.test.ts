/**
 * Crash points of turns in which a hook asks, at every point: allowed, denied, rewritten, or answered by nobody. No
 * crash changes their logs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import { crashMs, crashPoints, named, type Scenario } from "./crashes.ts"
import { allow, answered, deny, judgedBy, lastWords, rewrite, timesRun } from "./judgedScenarios.ts"
import { hook } from "./Toolbox.ts"

const forThread: GivenAnswer = { ...allow, scope: "thread" }
const quick = { asyncTimeoutMs: 5_000 }

const asks: ReadonlyArray<Scenario> = [
  {
    name: "a message whose hook asks, allowed",
    given: judgedBy(hook("ask", "before_turn_start")),
    does: answered("", allow),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) assistant(A) turn_completed(A)",
    then: lastWords("You said: A")
  },
  {
    name: "a message whose hook asks, denied",
    given: judgedBy(hook("ask", "before_turn_start")),
    does: answered("", deny),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) turn_failed(A: hook_denied)"
  },
  {
    name: "a message whose hook asks, rewritten",
    given: judgedBy(hook("ask", "before_turn_start")),
    does: answered("", rewrite("before_turn_start")),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) assistant(A) turn_completed(A)",
    then: lastWords("rewritten")
  },
  {
    name: "a call whose hook asks, allowed",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: answered('/call often {"n":1}', allow),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"ran":"often","with":{"n":1}}]')
  },
  {
    name: "a call whose hook asks, denied",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: answered("/call once {}", deny),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) result(A: hook_denied) assistant(A) turn_completed(A)",
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "a call whose hook asks, rewritten",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: answered('/call often {"n":1}', rewrite("before_tool_call")),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"ran":"often","with":{"rewritten":true}}]')
  },
  {
    name: "a result whose hook asks, allowed",
    given: judgedBy(hook("ask", "after_tool_result")),
    does: answered("/call often {}", allow),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"ran":"often","with":{}}]')
  },
  {
    name: "a result whose hook asks, denied",
    given: judgedBy(hook("ask", "after_tool_result")),
    does: answered("/call often {}", deny),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) result(A: hook_denied) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"code":"hook_denied","text":"No."}]')
  },
  {
    name: "a result whose hook asks, rewritten",
    given: judgedBy(hook("ask", "after_tool_result")),
    does: answered("/call often {}", rewrite("after_tool_result")),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: ["redacted"]')
  },
  {
    name: "a response whose hook asks, allowed",
    given: judgedBy(hook("ask", "after_model_response")),
    does: answered("", allow),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) assistant(A) turn_completed(A)",
    then: lastWords("You said: A")
  },
  {
    name: "a response whose hook asks, denied",
    given: judgedBy(hook("ask", "after_model_response")),
    does: answered("", deny),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) turn_failed(A: hook_denied)"
  },
  {
    name: "a response whose hook asks, rewritten",
    given: judgedBy(hook("ask", "after_model_response")),
    does: answered("", rewrite("after_model_response")),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) assistant(A) turn_completed(A)",
    then: lastWords("redacted")
  },
  {
    name: "two hooks that ask, one after the other",
    given: judgedBy(
      hook("ask", "before_tool_call"),
      hook("ask too", "before_tool_call", { processor: { type: "client" } })
    ),
    does: answered("/call often {}", allow, allow),
    log:
      "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) hook(A: 1 ask) wait_created(A) wait_resolved(A: allow) " +
      "result(A) assistant(A) turn_completed(A)"
  },
  {
    name: "an ask that nobody answers, and that is a deny",
    given: judgedBy(hook("ask", "before_tool_call", quick)),
    does: answered("/call once {}"),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) result(A: wait_expired) assistant(A) turn_completed(A)",
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "an ask that nobody answers, and that is an allow",
    given: judgedBy(hook("ask", "before_tool_call", { ...quick, onTimeout: "allow" })),
    does: answered("/call often {}"),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) result(A) assistant(A) turn_completed(A)"
  },
  {
    name: "an ask that nobody answers, and that ends the turn",
    given: judgedBy(hook("ask", "before_tool_call", { ...quick, onTimeout: "fail" })),
    does: answered("/call once {}\n/call ask {}"),
    log:
      "user(A) intent(A) intent(A) hook(A: 0 ask) wait_created(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) wait_resolved(A: cancelled) " +
      "result(A: turn_interrupted) result(A: turn_interrupted) turn_failed(A: wait_expired)"
  },
  {
    name: "an ask that is allowed for the thread, in this turn and the next",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", '/call often {"n":1}\n/then\n/call often {"n":2}')
      yield* client.answers(forThread)
      yield* client.rest()
      yield* client.send("B", "queue", "/call often {}")
    }),
    log:
      "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) intent(A) hook(A: 0 allow) result(A) assistant(A) turn_completed(A) " +
      "user(B) intent(B) hook(B: 0 allow) result(B) assistant(B) turn_completed(B)"
  },
  ...(
    [
      [0, "allowed, then denied"],
      [1, "denied, then allowed"]
    ] as const
  ).map(
    ([place, how]): Scenario => ({
      name: `two asks at once: ${how}, in that order`,
      given: judgedBy(hook("ask", "before_tool_call")),
      does: Effect.fnUntraced(function* (client) {
        yield* client.create("A", '/call often {"n":1}\n/call often {"n":2}')
        yield* client.answers(place === 0 ? allow : deny, place, 2)
        yield* client.answers(place === 0 ? deny : allow)
      }),
      log:
        place === 0
          ? "user(A) intent(A) intent(A) hook(A: 0 ask) wait_created(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) " +
            "wait_resolved(A: deny) result(A: hook_denied) result(A) assistant(A) turn_completed(A)"
          : "user(A) intent(A) intent(A) hook(A: 0 ask) wait_created(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) result(A: hook_denied) " +
            "wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
      then: (_, world) => assert.strictEqual(world.runs.size, 1)
    })
  )
]

const scenarios = asks.map((scenario): Scenario => ({ or: [], ...scenario }))

describe.each(crashPoints(scenarios))("%s", (_, holds) => {
  it.effect.each(named(scenarios))("%s", ([, scenario]) => holds(scenario), crashMs)
})
