/**
 * Crash points of judged turns: what hooks decide, approvals, waits of clients, and how such a turn ends. No crash
 * changes their logs, but where a tool may not run twice.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import { crashMs, crashPoints, named, type Scenario } from "./crashes.ts"
import { allow, answered, deny, judgedBy, lastWords, rewrite, timesRun } from "./judgedScenarios.ts"
import { hook } from "./Toolbox.ts"

/**
 * A role's approval, the answer to the hook's ask, and the approval that this makes necessary again: the two last ones
 * rewrite.
 */
const rewrittenTwice = [
  allow,
  rewrite("before_tool_call"),
  { ...allow, rewrite: { toolInput: { rewritten: "twice" } } }
] satisfies ReadonlyArray<GivenAnswer>
const askedTwice =
  "user(A) intent(A) wait_created(A) wait_resolved(A: allow) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) " +
  "wait_created(A) wait_resolved(A: allow) hook(A: 0 ask) wait_created(A)"

const decisions: ReadonlyArray<Scenario> = [
  {
    name: "a call that a hook denies, and one that a role denies",
    given: judgedBy(hook("deny", "before_tool_call")),
    does: answered("/call once {}\n/call forbidden {}"),
    log: "user(A) intent(A) intent(A) result(A: tool_denied) hook(A: 0 deny) result(A: hook_denied) assistant(A) turn_completed(A)",
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "a message that a hook rewrites",
    given: judgedBy(hook("allow rewrite", "before_turn_start"), hook("defer", "before_turn_start")),
    does: answered(""),
    log: "user(A) hook(A: 0 allow) hook(A: 1 defer) assistant(A) turn_completed(A)",
    then: lastWords("rewritten")
  },
  {
    name: "an input that a hook rewrites",
    given: judgedBy(hook("allow rewrite", "before_tool_call"), hook("defer", "before_tool_call")),
    does: answered("/call often {}"),
    log: "user(A) intent(A) hook(A: 0 allow) hook(A: 1 defer) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"ran":"often","with":{"rewritten":true}}]')
  },
  {
    name: "an output that a hook rewrites",
    given: judgedBy(hook("allow rewrite", "after_tool_result"), hook("defer", "after_tool_result")),
    does: answered("/call often {}"),
    log: "user(A) intent(A) hook(A: 0 allow) hook(A: 1 defer) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: ["redacted"]')
  },
  {
    name: "responses that a hook rewrites",
    given: judgedBy(hook("allow rewrite", "after_model_response"), hook("defer", "after_model_response")),
    does: answered("/call nope {}"),
    log: "user(A) hook(A: 0 allow) hook(A: 1 defer) assistant(A) intent(A) result(A: tool_not_found) hook(A: 0 allow) hook(A: 1 defer) assistant(A) turn_completed(A)",
    then: lastWords("redacted")
  },
  {
    name: "hooks at every point",
    given: judgedBy(
      hook("allow", "before_turn_start"),
      hook("allow", "after_model_response"),
      hook("allow", "before_tool_call"),
      hook("allow", "after_tool_result")
    ),
    does: answered("/call often {}"),
    log: "user(A) hook(A: 0 allow) hook(A: 1 allow) intent(A) hook(A: 2 allow) hook(A: 3 allow) result(A) hook(A: 1 allow) assistant(A) turn_completed(A)"
  },
  {
    name: "two steers that hooks judge",
    given: judgedBy(hook("allow", "before_turn_start")),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call often {}")
      yield* client.send("S", "steer")
      yield* client.send("T", "steer")
    }),
    log: "user(A) hook(A: 0 allow) user(S, in A) user(T, in A) hook(A: 0 allow) hook(A: 0 allow) assistant(A) turn_completed(A)"
  }
]

const tools: ReadonlyArray<Scenario> = [
  {
    name: "a role that wants an approval, given",
    does: answered("/call risky {}", allow),
    log: "user(A) intent(A) wait_created(A) wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)",
    or: [
      "user(A) intent(A) wait_created(A) wait_resolved(A: allow) result(A: tool_outcome_unknown) assistant(A) turn_completed(A)"
    ]
  },
  {
    name: "a role that wants an approval, refused",
    does: answered("/call risky {}", deny),
    log: "user(A) intent(A) wait_created(A) wait_resolved(A: deny) result(A: tool_denied) assistant(A) turn_completed(A)",
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "a role that wants an approval, given with another input, which hooks judge then",
    given: judgedBy(
      hook("allow", "before_tool_call", { match: { conditions: [{ path: "/rewritten", op: "eq", value: true }] } }),
      hook("allow", "after_tool_result")
    ),
    does: answered('/call risky {"rewritten":false}', rewrite("before_tool_call")),
    log: "user(A) intent(A) wait_created(A) wait_resolved(A: allow) hook(A: 0 allow) hook(A: 1 allow) result(A) assistant(A) turn_completed(A)",
    or: [
      "user(A) intent(A) wait_created(A) wait_resolved(A: allow) hook(A: 0 allow) result(A: tool_outcome_unknown) assistant(A) turn_completed(A)"
    ]
  },
  {
    name: "an approval that is asked anew and brings another input: the hook that asked asks again, about that one, under another id",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: answered("/call risky {}", ...rewrittenTwice, allow),
    log: `${askedTwice} wait_resolved(A: allow) result(A) assistant(A) turn_completed(A)`,
    or: [`${askedTwice} wait_resolved(A: allow) result(A: tool_outcome_unknown) assistant(A) turn_completed(A)`],
    then: (_, { questions }) =>
      assert.deepStrictEqual(
        [...questions.values()].map((data) => ("toolInput" in data ? data.toolInput : undefined)),
        [{}, { rewritten: "twice" }]
      )
  },
  {
    name: "a call that may run again",
    does: answered("/call often {}"),
    log: "user(A) intent(A) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: [{"ran":"often","with":{}}]')
  },
  {
    name: "a call that must not run twice",
    does: answered("/call once {}"),
    log: "user(A) intent(A) result(A) assistant(A) turn_completed(A)",
    or: ["user(A) intent(A) result(A: tool_outcome_unknown) assistant(A) turn_completed(A)"],
    then: (_, world) => assert.isAtMost(Math.max(0, ...timesRun(world)), 1)
  },
  {
    name: "a call that must not run twice, between hooks: who is asked again is not run again",
    given: judgedBy(hook("allow", "before_tool_call"), hook("allow", "after_tool_result")),
    does: answered("/call once {}"),
    log: "user(A) intent(A) hook(A: 0 allow) hook(A: 1 allow) result(A) assistant(A) turn_completed(A)",
    or: ["user(A) intent(A) hook(A: 0 allow) result(A: tool_outcome_unknown) assistant(A) turn_completed(A)"],
    then: (_, world) => assert.isAtMost(Math.max(0, ...timesRun(world)), 1)
  },
  {
    name: "a client's call, judged before and after",
    given: judgedBy(hook("allow", "before_tool_call"), hook("allow rewrite", "after_tool_result")),
    does: answered("/call ask {}", { type: "tool_result", output: "secret" }),
    log: "user(A) intent(A) hook(A: 0 allow) wait_created(A) wait_resolved(A: result) hook(A: 1 allow) result(A) assistant(A) turn_completed(A)",
    then: lastWords('Done: ["redacted"]')
  },
  {
    name: "a client's call that comes back as an error, and one that does not come back",
    given: judgedBy(hook("allow", "after_tool_result")),
    does: answered("/call ask {}\n/call ask {}", { type: "tool_result", error: { code: "no_disk", message: "full" } }),
    log:
      "user(A) intent(A) intent(A) wait_created(A) wait_created(A) wait_resolved(A: error) hook(A: 0 allow) result(A: tool_error) " +
      "wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
  }
]

const endings: ReadonlyArray<Scenario> = [
  {
    name: "steer while an ask waits: held, and judged before the model reads it",
    given: judgedBy(
      hook("ask", "before_tool_call"),
      hook("allow", "before_turn_start", { match: { conditions: [{ path: "/submitMode", op: "eq", value: "steer" }] } })
    ),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call often {}")
      yield* client.untilWaiting()
      yield* client.send("S", "steer")
      yield* client.answers(allow)
    }),
    log: "user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) result(A) user(S, in A) hook(A: 1 allow) assistant(A) turn_completed(A)"
  },
  {
    name: "interrupt while an ask and a client wait",
    given: judgedBy(hook("ask", "before_tool_call", { match: { tools: ["once"] } })),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call once {}\n/call ask {}")
      yield* client.untilWaiting(2)
      yield* client.send("I", "interrupt")
      yield* client.answer(allow)
    }),
    log:
      "user(A) intent(A) intent(A) wait_created(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: cancelled) wait_resolved(A: cancelled) " +
      "result(A: turn_interrupted) result(A: turn_interrupted) turn_cancelled(A) user(I) assistant(I) turn_completed(I)",
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "cancel while a message's ask waits, with an input queued",
    given: judgedBy(
      hook("ask", "before_turn_start", {
        match: { conditions: [{ path: "/content/0/text", op: "startsWith", value: "A" }] }
      })
    ),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A")
      yield* client.send("Q")
      yield* client.untilWaiting()
      yield* client.cancel()
    }),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: cancelled) turn_cancelled(A) user(Q) assistant(Q) turn_completed(Q)"
  },
  {
    name: "cancel while a response's ask waits: nobody has seen the response",
    given: judgedBy(hook("ask", "after_model_response")),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/say secret")
      yield* client.untilWaiting()
      yield* client.cancel()
    }),
    log: "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: cancelled) turn_cancelled(A)"
  },
  {
    name: "cancel while the ask waits that a hook has asked anew",
    given: judgedBy(hook("ask", "before_tool_call")),
    does: Effect.fnUntraced(function* (client) {
      yield* answered("/call risky {}", ...rewrittenTwice)(client)
      yield* client.untilWaiting()
      yield* client.cancel()
    }),
    log: `${askedTwice} wait_resolved(A: cancelled) result(A: turn_interrupted) turn_cancelled(A)`,
    then: (_, world) => assert.deepStrictEqual(timesRun(world), [])
  },
  {
    name: "interrupt while a hook is asked",
    given: judgedBy(hook("allow", "before_tool_call")),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call once {}")
      yield* client.until(({ questions }) => questions.size > 0)
      yield* client.send("I", "interrupt")
    }),
    log: "user(A) intent(A) result(A: turn_interrupted) turn_cancelled(A) user(I) assistant(I) turn_completed(I)",
    or: [
      // It may have got on while a node died.
      "user(A) intent(A) hook(A: 0 allow) result(A: turn_interrupted) turn_cancelled(A) user(I) assistant(I) turn_completed(I)"
    ]
  }
]

/** Which of them comes first is chance when something has gone wrong. */
const atOnce: ReadonlyArray<Scenario> = [
  {
    name: "four calls with hooks before and after, two at a time, one of which asks",
    given: judgedBy(
      hook("allow", "before_tool_call"),
      hook("allow", "after_tool_result"),
      hook("ask", "before_tool_call", { match: { conditions: [{ path: "/n", op: "eq", value: 1 }] } })
    ),
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", '/call often {"n":1}\n/call often {"n":2}\n/call often {"n":3}\n/call often {"n":4}')
      yield* client.answers(allow)
    }),
    log:
      "user(A) intent(A) intent(A) intent(A) intent(A) hook(A: 0 allow) hook(A: 0 allow) hook(A: 2 ask) wait_created(A) wait_resolved(A: allow) " +
      "hook(A: 0 allow) hook(A: 1 allow) result(A) hook(A: 1 allow) result(A) hook(A: 1 allow) result(A) hook(A: 0 allow) hook(A: 1 allow) result(A) assistant(A) turn_completed(A)",
    chance: "any",
    then: (log) => {
      const count = (type: string) => log.filter((fact) => fact.type === type).length
      assert.deepStrictEqual([count("hook_decision"), count("wait_created"), count("tool_result")], [9, 1, 4])
      assert.isTrue(log.every(({ event }) => event.failureCode === undefined))
    }
  }
]

const always = (scenario: Scenario): Scenario => ({ or: [], ...scenario })

const scenarios = [...[...decisions, ...tools, ...endings].map(always), ...atOnce]

describe.each(crashPoints(scenarios))("%s", (_, holds) => {
  it.effect.each(named(scenarios))("%s", ([, scenario]) => holds(scenario), crashMs)
})
