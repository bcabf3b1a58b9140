/**
 * The table of judged turns: four points, what a hook of each processor decides and
 * what comes of it, onError, onTimeout, and a second hook behind. The facts of each turn are written
 * down here, private ones in brackets; a crash before or after a commit, drawn anew by each run, changes none of them.
 *
 * A client decides nothing at once: whatever it thinks is an answer to its ask. A url and an agent
 * differ in how they are asked (test/http/hookDryRuns.test.ts), not in what becomes of it.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { HookPoint } from "../../src/domain/event.ts"
import type { Hook } from "../../src/domain/hook.ts"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import type { Recorded } from "../invariants.ts"
import { draws, runScenario, type Scenario } from "./crashes.ts"
import { hook, rewrites } from "./Toolbox.ts"

/** What the first hook does. Its name is what it decides (Toolbox); `answer` is somebody's to its ask. */
interface Case {
  readonly hook: string
  readonly more?: Partial<Hook>
  readonly answer?: (point: HookPoint) => GivenAnswer
}
const allowed = (): GivenAnswer => ({ type: "decision", decision: "allow" })
const denied = (): GivenAnswer => ({ type: "decision", decision: "deny" })
const soon = { asyncTimeoutMs: 5_000 }

const cases = {
  allow: { hook: "allow" },
  deny: { hook: "deny" },
  defer: { hook: "defer" },
  rewrite: { hook: "allow rewrite" },
  "ask, allowed": { hook: "ask", answer: allowed },
  "ask, denied": { hook: "ask", answer: denied },
  "ask, rewritten": {
    hook: "ask",
    answer: (point: HookPoint): GivenAnswer => ({ type: "decision", decision: "allow", rewrite: rewrites[point] })
  },
  "ask, no answer, onTimeout deny": { hook: "ask", more: soon },
  "ask, no answer, onTimeout allow": { hook: "ask", more: { ...soon, onTimeout: "allow" } },
  "ask, no answer, onTimeout fail": { hook: "ask", more: { ...soon, onTimeout: "fail" } },
  "no valid answer, onError allow": { hook: "allow failed" },
  "no valid answer, onError deny": { hook: "deny failed" },
  "no valid answer, onError ask, allowed": { hook: "ask failed", answer: allowed },
  "no valid answer, onError ask, denied": { hook: "ask failed", answer: denied }
} as const satisfies Readonly<Record<string, Case>>

const table: Readonly<
  Record<HookPoint, { readonly script: string; readonly facts: Readonly<Record<keyof typeof cases, string>> }>
> = {
  before_turn_start: {
    script: "",
    facts: {
      allow: "user 0:allow 1:allow says(You said: A) completed",
      deny: "user 0:deny failed(hook_denied)",
      defer: "user 0:defer 1:allow says(You said: A) completed",
      rewrite: "user 0:allow 1:allow says(rewritten) completed",
      "ask, allowed": "user 0:ask wait resolved(allow) 1:allow says(You said: A) completed",
      "ask, denied": "user 0:ask wait resolved(deny) failed(hook_denied)",
      "ask, rewritten": "user 0:ask wait resolved(allow) 1:allow says(rewritten) completed",
      "ask, no answer, onTimeout deny": "user 0:ask wait resolved(expired) failed(wait_expired)",
      "ask, no answer, onTimeout allow": "user 0:ask wait resolved(expired) 1:allow says(You said: A) completed",
      "ask, no answer, onTimeout fail": "user 0:ask wait resolved(expired) failed(wait_expired)",
      "no valid answer, onError allow": "user 0:allow 1:allow says(You said: A) completed",
      "no valid answer, onError deny": "user 0:deny failed(hook_failed)",
      "no valid answer, onError ask, allowed": "user 0:ask wait resolved(allow) 1:allow says(You said: A) completed",
      "no valid answer, onError ask, denied": "user 0:ask wait resolved(deny) failed(hook_denied)"
    }
  },
  before_tool_call: {
    script: "/call often {}",
    facts: {
      allow: 'user intent 0:allow 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      deny: 'user intent 0:deny result(hook_denied) says(Done: [{"code":"hook_denied","text":"A hook denied it."}]) completed',
      defer: 'user intent 0:defer 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      rewrite: 'user intent 0:allow 1:allow result says(Done: [{"ran":"often","with":{"rewritten":true}}]) completed',
      "ask, allowed":
        'user intent 0:ask wait resolved(allow) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "ask, denied":
        'user intent 0:ask wait resolved(deny) result(hook_denied) says(Done: [{"code":"hook_denied","text":"The call was not approved."}]) completed',
      "ask, rewritten":
        'user intent 0:ask wait resolved(allow) 1:allow result says(Done: [{"ran":"often","with":{"rewritten":true}}]) completed',
      "ask, no answer, onTimeout deny":
        'user intent 0:ask wait resolved(expired) result(wait_expired) says(Done: [{"code":"wait_expired","text":"Nobody approved the call in time."}]) completed',
      "ask, no answer, onTimeout allow":
        'user intent 0:ask wait resolved(expired) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "ask, no answer, onTimeout fail":
        "user intent 0:ask wait resolved(expired) result(turn_interrupted) failed(wait_expired)",
      "no valid answer, onError allow":
        'user intent 0:allow 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "no valid answer, onError deny":
        'user intent 0:deny result(hook_failed) says(Done: [{"code":"hook_failed","text":"The hook gave no answer that counts."}]) completed',
      "no valid answer, onError ask, allowed":
        'user intent 0:ask wait resolved(allow) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "no valid answer, onError ask, denied":
        'user intent 0:ask wait resolved(deny) result(hook_denied) says(Done: [{"code":"hook_denied","text":"The call was not approved."}]) completed'
    }
  },
  after_tool_result: {
    script: "/call often {}",
    facts: {
      allow: 'user intent [result] 0:allow 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      deny: 'user intent [result] 0:deny result(hook_denied) says(Done: [{"code":"hook_denied","text":"A hook denied it."}]) completed',
      defer: 'user intent [result] 0:defer 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      rewrite: 'user intent [result] 0:allow 1:allow result says(Done: ["redacted"]) completed',
      "ask, allowed":
        'user intent [result] 0:ask wait resolved(allow) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "ask, denied":
        'user intent [result] 0:ask wait resolved(deny) result(hook_denied) says(Done: [{"code":"hook_denied","text":"The call was not approved."}]) completed',
      "ask, rewritten":
        'user intent [result] 0:ask wait resolved(allow) 1:allow result says(Done: ["redacted"]) completed',
      "ask, no answer, onTimeout deny":
        'user intent [result] 0:ask wait resolved(expired) result(wait_expired) says(Done: [{"code":"wait_expired","text":"Nobody approved the call in time."}]) completed',
      "ask, no answer, onTimeout allow":
        'user intent [result] 0:ask wait resolved(expired) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "ask, no answer, onTimeout fail":
        "user intent [result] 0:ask wait resolved(expired) result(turn_interrupted) failed(wait_expired)",
      "no valid answer, onError allow":
        'user intent [result] 0:allow 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "no valid answer, onError deny":
        'user intent [result] 0:deny result(hook_failed) says(Done: [{"code":"hook_failed","text":"The hook gave no answer that counts."}]) completed',
      "no valid answer, onError ask, allowed":
        'user intent [result] 0:ask wait resolved(allow) 1:allow result says(Done: [{"ran":"often","with":{}}]) completed',
      "no valid answer, onError ask, denied":
        'user intent [result] 0:ask wait resolved(deny) result(hook_denied) says(Done: [{"code":"hook_denied","text":"The call was not approved."}]) completed'
    }
  },
  after_model_response: {
    script: "/say secret",
    facts: {
      allow: "user [response] 0:allow 1:allow says(secret) completed",
      deny: "user [response] 0:deny failed(hook_denied)",
      defer: "user [response] 0:defer 1:allow says(secret) completed",
      rewrite: "user [response] 0:allow 1:allow says(redacted) completed",
      "ask, allowed": "user [response] 0:ask wait resolved(allow) 1:allow says(secret) completed",
      "ask, denied": "user [response] 0:ask wait resolved(deny) failed(hook_denied)",
      "ask, rewritten": "user [response] 0:ask wait resolved(allow) 1:allow says(redacted) completed",
      "ask, no answer, onTimeout deny": "user [response] 0:ask wait resolved(expired) failed(wait_expired)",
      "ask, no answer, onTimeout allow": "user [response] 0:ask wait resolved(expired) 1:allow says(secret) completed",
      "ask, no answer, onTimeout fail": "user [response] 0:ask wait resolved(expired) failed(wait_expired)",
      "no valid answer, onError allow": "user [response] 0:allow 1:allow says(secret) completed",
      "no valid answer, onError deny": "user [response] 0:deny failed(hook_failed)",
      "no valid answer, onError ask, allowed":
        "user [response] 0:ask wait resolved(allow) 1:allow says(secret) completed",
      "no valid answer, onError ask, denied": "user [response] 0:ask wait resolved(deny) failed(hook_denied)"
    }
  }
}

const word = ({ event, type }: Recorded): string => {
  const { content, failureCode, hook, waitResult } = event as {
    readonly content?: ReadonlyArray<{ readonly text: string }>
    readonly failureCode?: string
    readonly hook?: { readonly index: number; readonly decision: string }
    readonly waitResult?: { readonly outcome: string }
  }
  const why = failureCode === undefined ? "" : `(${failureCode})`
  switch (type) {
    case "user_message":
      return "user"
    case "assistant_message":
      return `says(${content?.map(({ text }) => text).join("|")})`
    case "tool_intent":
      return "intent"
    case "tool_result":
      return `result${why}`
    case "hook_decision":
      return `${hook?.index}:${hook?.decision}`
    case "wait_created":
      return "wait"
    case "wait_resolved":
      return `resolved(${waitResult?.outcome})`
    case "response_received":
      return "[response]"
    case "result_received":
      return "[result]"
    case "turn_completed":
      return "completed"
    case "turn_failed":
      return `failed${why}`
    default:
      return type
  }
}

/** What the second hook was shown, where the first one or a person has put something else in place. */
const seen = {
  before_turn_start: { content: rewrites.before_turn_start.content },
  before_tool_call: rewrites.before_tool_call,
  after_tool_result: rewrites.after_tool_result,
  after_model_response: rewrites.after_model_response
}

const processors: Readonly<Record<string, Hook["processor"]>> = {
  url: { type: "url", url: "https://hooks.example/" },
  agent: { type: "agent", agentId: "agent_01J00000000000000000000000" },
  client: { type: "client" }
}

const scenarioOf = (point: HookPoint, processor: Hook["processor"], what: Case): Omit<Scenario, "name" | "log"> => ({
  given: (world) => {
    world.hooks = [hook(what.hook, point, { ...what.more, processor }), hook("allow behind", point)]
  },
  does: Effect.fnUntraced(function* (client) {
    yield* client.create("A", table[point].script)
    if (what.answer !== undefined) yield* client.answers(what.answer(point))
  })
})

/** The facts that name processor, target, hook and delivery agree with each other. */
const agrees = (log: ReadonlyArray<Recorded>, point: HookPoint, processor: string) => {
  const decided = log.find(
    ({ event, type }) => type === "hook_decision" && (event.hook as { readonly index: number }).index === 0
  )?.event.hook
  assert.deepInclude(decided, { point, processor })
}

const faults = ["crash before", "crash after"] as const
const { drawn, isPlainDrawn } = draws()
let turns = 0
afterAll(() =>
  console.log(
    `judged turns: ${turns}, of ${Object.keys(table).length} points, ${Object.keys(cases).length} cases ${drawn}`
  )
)

for (const [point, { facts, script }] of Object.entries(table) as ReadonlyArray<
  [HookPoint, (typeof table)[HookPoint]]
>) {
  for (const [name, processor] of Object.entries(processors)) {
    describe(`a ${name} hook of ${point}${script === "" ? "" : ` (${script})`}`, () => {
      for (const [title, what] of Object.entries(cases) as ReadonlyArray<[keyof typeof cases, Case]>) {
        // A client's hook asks, always, and cannot fail.
        if (processor.type === "client" && what.hook !== "ask") continue

        it.effect(
          `${title}: ${facts[title]}`,
          () =>
            Effect.gen(function* () {
              const scenario = scenarioOf(point, processor, what)
              let asked = 0
              const whole = yield* runScenario({
                ...scenario,
                then: (log, { questions }) => {
                  assert.strictEqual(log.map(word).join(" "), facts[title])
                  agrees(log, point, name)
                  const shown = [...questions.values()]
                  // A question that is asked again after a crash is the same delivery.
                  asked = questions.size
                  const second = log.some((fact) => word(fact) === "1:allow")
                  assert.lengthOf(shown, second ? 2 : 1, "who is not asked is not shown anything")
                  if (title === "rewrite" || title === "ask, rewritten") assert.deepInclude(shown[1], seen[point])
                }
              })
              turns++
              for (let commit = 1; commit <= whole.commits; commit++) {
                for (const fault of faults) {
                  if (!isPlainDrawn()) continue
                  const { deaths, facts: after } = yield* runScenario(
                    { ...scenario, then: (_, { questions }) => assert.strictEqual(questions.size, asked) },
                    { commit, fault }
                  )
                  assert.strictEqual(
                    after.map(word).join(" "),
                    facts[title],
                    `${fault}, commit ${commit} of ${whole.commits}`
                  )
                  assert.strictEqual(deaths, 1)
                  turns++
                }
              }
            }),
          60_000
        )
      }
    })
  }
}

describe("what is under way when the turn is interrupted is stopped:", () => {
  it.effect.each([
    ["a tool", "/call often {}", []],
    ["a question before a turn", "", [hook("allow", "before_turn_start")]],
    ["a question before a call", "/call often {}", [hook("allow", "before_tool_call")]],
    ["a question after a response", "/say secret", [hook("allow", "after_model_response")]]
  ] as const)("%s", ([, script, hooks]) =>
    runScenario({
      given: (world) => {
        world.hooks = hooks
      },
      does: Effect.fnUntraced(function* (client) {
        yield* client.create("A", script)
        yield* client.pass(500)
        client.world.hooks = []
        yield* client.send("I", "interrupt")
        yield* client.pass(3_000)
      }),
      then: (log, { decided, finished, questions, runs }) => {
        assert.strictEqual(runs.size + questions.size, 1, "it was under way")
        assert.strictEqual(decided + finished, 0)
        assert.strictEqual(log.findLast(({ type }) => type.startsWith("turn_"))?.type, "turn_completed")
      }
    })
  )
})
