/**
 * The life of one call, and of a chain of hooks, as charts: for people who look at them. Their events are the facts
 * that are about a call. They are not run, so that the number of calls is free: a call is data of its turn, and
 * callState.ts says what each fact makes of it. A test takes every fact of many threads along these edges, and finds
 * each edge taken.
 */
import { setup } from "xstate"
import { chartTypes } from "../step.ts"
import type { Fact } from "./facts.ts"

const machine = setup({ types: chartTypes<{ events: Pick<Fact, "type"> }>() })

const result = (description: string) => ({ tool_result: { target: "settled", description } }) as const

export const callChart = machine.createMachine({
  id: "call",
  description: "The life of one tool call of a response.",
  initial: "wanted",
  states: {
    wanted: {
      description: "The model wants it. A person or a client is told of it in the same step.",
      on: {
        tool_intent: [
          { target: "wanted", description: "A role wants a person's word first, or a client executes it." },
          { target: "waiting", description: "It is refused at once, or no place is free." },
          { target: "judging", description: "Hooks of before_tool_call match it, and a place is free." },
          { target: "running", description: "No hook matches it, and a place is free." }
        ],
        wait_created: [
          { target: "approving", description: "A person is asked for the role." },
          { target: "client", description: "A client is to execute it." }
        ],
        result_received: [
          { target: "waiting", description: "A client has executed it, hooks match the result, and no place is free." },
          { target: "judgingResult", description: "A client has executed it, and hooks match the result." }
        ],
        ...result("It is denied, or a client has executed it and no hook matches the result, or the turn ends.")
      }
    },
    approving: {
      description: "A person is asked whether a role's grant may be used.",
      on: {
        wait_resolved: [
          { target: "wanted", description: "It is denied, or it is allowed and a client executes it." },
          { target: "waiting", description: "It is allowed, and no place is free." },
          { target: "judging", description: "It is allowed, and hooks match it." },
          { target: "running", description: "It is allowed, and no hook matches it." }
        ]
      }
    },
    waiting: {
      description: "It waits for a place among the calls that run at once.",
      on: {
        call_started: [
          { target: "judging", description: "A place is free, and a hook is asked." },
          { target: "running", description: "A place is free, and it runs." },
          { target: "judgingResult", description: "A place is free, and a hook is asked about its result." }
        ],
        ...result("It is refused at once, or the turn ends.")
      }
    },
    judging: {
      description: "A hook of before_tool_call judges it.",
      on: {
        hook_decision: [
          { target: "judging", description: "The next hook is asked, or this one denies it or asks a person." },
          { target: "running", description: "All hooks have let it pass." },
          { target: "wanted", description: "It is rewritten and needs its approval anew, or a client executes it." }
        ],
        wait_created: { target: "asking", description: "The hook asks a person." },
        ...result("The hook denies it, or the turn ends.")
      }
    },
    asking: {
      description: "A person is asked what a hook of before_tool_call would not decide.",
      on: {
        wait_resolved: [
          { target: "wanted", description: "It is denied, needs its approval anew, or is a client's to execute." },
          { target: "waiting", description: "It is allowed, and no place is free." },
          { target: "judging", description: "It is allowed, and the next hook is asked." },
          { target: "running", description: "It is allowed, and no other hook matches it." }
        ]
      }
    },
    client: {
      description: "A client owes its result.",
      on: {
        wait_resolved: {
          target: "wanted",
          description: "The client has answered, or it is too late: a result follows."
        }
      }
    },
    running: {
      description: "The tool runs, or may have run.",
      on: {
        result_received: { target: "judgingResult", description: "Hooks of after_tool_result match the result." },
        ...result("No hook matches the result, or the turn ends.")
      }
    },
    judgingResult: {
      description: "A hook of after_tool_result judges the result: the model has not seen it.",
      on: {
        hook_decision: {
          target: "judgingResult",
          description: "The next hook is asked, or this was the last, or it denies it or asks a person."
        },
        wait_created: { target: "askingResult", description: "The hook asks a person." },
        ...result("All hooks have let it pass, or it is denied, or the turn ends.")
      }
    },
    askingResult: {
      description: "A person is asked whether the model may see the result.",
      on: {
        wait_resolved: [
          { target: "waiting", description: "It is allowed, another hook matches, and no place is free." },
          { target: "judgingResult", description: "The next hook is asked, or its result follows." }
        ]
      }
    },
    settled: { type: "final", description: "It has its result." }
  }
})

export const hooksChart = machine.createMachine({
  id: "hooks",
  description: "The hooks of one point about one message, response, call or result: one after the other, by index.",
  initial: "judging",
  states: {
    judging: {
      description: "A hook is asked. It hears what the ones before it have made of it.",
      on: {
        hook_decision: [
          { target: "judging", description: "It lets it pass and another hook matches, or it asks a person." },
          { target: "passed", description: "It lets it pass, and no other hook matches." },
          { target: "denied", description: "It denies." }
        ],
        wait_created: { target: "asking", description: "It asks a person." }
      }
    },
    asking: {
      description: "A person is asked.",
      on: {
        wait_resolved: [
          { target: "judging", description: "It is allowed, by a person or by nobody's answer; another hook matches." },
          { target: "passed", description: "It is allowed, by a person or by nobody's answer; no other hook matches." },
          { target: "denied", description: "It is denied, by a person or by nobody's answer, or the turn ends." }
        ]
      }
    },
    passed: { type: "final", description: "The call, message or response goes on as it was judged." },
    denied: { type: "final", description: "A message or a response ends the turn; a call gets a result." }
  }
})
