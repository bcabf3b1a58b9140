/**
 * The life of one call, and of a chain of hooks, as charts: for people who look at them, and for the tests, which hold
 * them to what calls do. They are not run: a call is data of its turn, so that the number of calls is free, and
 * `callStateOf` says in one word where it stands.
 */
import { setup } from "xstate"
import { nextOf } from "./calls.ts"
import type { Call } from "./context.ts"

const words = {
  place: { description: "A place has become free." },
  result: { target: "settled", description: "The call has its result, or the turn has ended and gives it one." }
} as const

interface CallEvents {
  readonly type: "wants" | "approved" | "denied" | "placed" | "passed" | "asked" | "answered" | "returned" | "ended"
}

export const callChart = setup({ types: { events: {} as CallEvents } }).createMachine({
  id: "call",
  description: "The life of one tool call of a response.",
  initial: "wanted",
  on: { ended: { target: ".settled", description: "The turn ends: every call gets a result." } },
  states: {
    wanted: {
      description: "The model wants it. Where it goes on is decided in the same step.",
      on: {
        denied: { target: "settled", description: "No such tool, denied by the roles, or its input does not fit." },
        asked: { target: "approving", description: "A role wants a person's word first." },
        passed: { target: "client", description: "Nobody judges it, and a client executes it." },
        wants: { target: "waiting", description: "No place is free." },
        placed: { target: "judging", description: "Hooks of before_tool_call match it." },
        approved: { target: "running", description: "Nobody judges it, and a place is free." }
      }
    },
    approving: {
      description: "A person is asked whether a role's grant may be used.",
      on: {
        denied: { target: "settled", description: "Nobody allows it: its result says so." },
        wants: { target: "waiting", description: "It is allowed, and no place is free." },
        placed: { target: "judging", description: "It is allowed, and hooks judge it." },
        approved: { target: "running", description: "It is allowed, and runs." },
        passed: { target: "client", description: "It is allowed, and a client executes it." }
      }
    },
    waiting: {
      description: "It waits for a place among the calls that run at once.",
      on: {
        placed: [
          { target: "judging", ...words.place },
          { target: "running", ...words.place },
          { target: "judgingResult", ...words.place }
        ]
      }
    },
    judging: {
      description: "A hook of before_tool_call judges it.",
      on: {
        denied: words.result,
        asked: [
          { target: "asking", description: "The hook wants a person's word." },
          { target: "approving", description: "It was rewritten after a person had allowed it: the role asks again." }
        ],
        passed: [
          { target: "judging", description: "The next hook is asked." },
          { target: "running", description: "All hooks have let it pass." },
          { target: "client", description: "All hooks have let it pass, and a client executes it." }
        ]
      }
    },
    asking: {
      description: "A person is asked what a hook of before_tool_call would not decide.",
      on: {
        denied: { target: "settled", description: "Nobody allows it: its result says so." },
        answered: [
          { target: "waiting", description: "It is allowed, and no place is free." },
          { target: "judging", description: "It is allowed, and the next hook is asked." },
          { target: "approving", description: "It is rewritten, and the role asks again." },
          { target: "running", description: "It is allowed, and runs." },
          { target: "client", description: "It is allowed, and a client executes it." }
        ]
      }
    },
    client: {
      description: "A client owes its result.",
      on: {
        returned: [
          { ...words.result },
          { target: "waiting", description: "Hooks of after_tool_result match the result, and no place is free." },
          { target: "judgingResult", description: "Hooks of after_tool_result match the result." }
        ]
      }
    },
    running: {
      description: "The tool runs, or may have run.",
      on: {
        returned: [
          { ...words.result },
          { target: "judgingResult", description: "Hooks of after_tool_result match the result." }
        ]
      }
    },
    judgingResult: {
      description: "A hook of after_tool_result judges the result: the model has not seen it.",
      on: {
        asked: { target: "askingResult", description: "The hook wants a person's word." },
        passed: [
          { target: "judgingResult", description: "The next hook is asked." },
          { target: "settled", description: "All hooks have let it pass, or one has denied it." }
        ]
      }
    },
    askingResult: {
      description: "A person is asked whether the model may see the result.",
      on: {
        answered: [
          { ...words.result },
          { target: "waiting", description: "The next hook is to judge it, and no place is free." },
          { target: "judgingResult", description: "The next hook is asked." }
        ]
      }
    },
    settled: { type: "final", description: "It has its result." }
  }
})

export const hooksChart = setup({
  types: { events: {} as { readonly type: "passes" | "asks" | "denies" | "answered" | "expired" } }
}).createMachine({
  id: "hooks",
  description: "The hooks of one point about one message, response, call or result: one after the other, by index.",
  initial: "judging",
  states: {
    judging: {
      description: "A hook is asked. It hears what the ones before it have made of it.",
      on: {
        passes: [
          { target: "judging", description: "It allows or has no opinion, and another hook matches." },
          { target: "passed", description: "It allows or has no opinion, and no other hook matches." }
        ],
        asks: { target: "waiting", description: "It wants a person's word." },
        denies: { target: "denied", description: "It denies." }
      }
    },
    waiting: {
      description: "A person is asked.",
      on: {
        answered: [
          { target: "judging", description: "The person allows, and another hook matches." },
          { target: "passed", description: "The person allows, and no other hook matches." },
          { target: "denied", description: "The person denies." }
        ],
        expired: [
          {
            target: "judging",
            description: "Nobody has answered, which the hook takes for an allow; another matches."
          },
          { target: "passed", description: "Nobody has answered, which the hook takes for an allow." },
          { target: "denied", description: "Nobody has answered, which the hook takes for a deny, or for a failure." }
        ]
      }
    },
    passed: { type: "final", description: "What was judged goes on." },
    denied: { type: "final", description: "A message or a response ends the turn; a call gets a result." }
  }
})

export type CallState = Exclude<keyof (typeof callChart)["states"], "wanted" | "settled">

/** Where a call without a result stands. */
export const callStateOf = (call: Call): CallState => {
  const isOver = call.returned !== undefined
  switch (call.wait?.type) {
    case "role_approval":
      return "approving"
    case "client_tool":
      return "client"
    case "hook_ask":
      return isOver ? "askingResult" : "asking"
    case undefined:
      if (call.phase === "ready") return "waiting"
      if (nextOf(call) === "run") return "running"
      return isOver ? "judgingResult" : "judging"
  }
}
