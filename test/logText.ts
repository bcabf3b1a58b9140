/**
 * A thread's public log in one line, turns by name: `user(A) assistant(A) user(S, in A) turn_completed(A)`,
 * with what failed, was decided or answered: `hook(A: 0 ask) wait_created(A) wait_resolved(A: allow)`.
 * An input is named by the first line of its text.
 */
interface Told {
  readonly type: string
  readonly turn: string
  readonly event: Readonly<Record<string, unknown>>
}

const short: Readonly<Record<string, string>> = {
  user_message: "user",
  assistant_message: "assistant",
  tool_intent: "intent",
  tool_result: "result",
  hook_decision: "hook"
}

const firstLine = ({ event }: Told) =>
  /"text":"(?<line>.*?)(?:\\n|")/.exec(JSON.stringify(event.content))?.groups?.line ?? "?"

interface Outcomes {
  readonly failureCode?: string
  readonly hook?: { readonly index: number; readonly decision: string }
  readonly waitResult?: { readonly outcome: string }
}

const howItWent = ({ event }: Told) => {
  const { failureCode, hook, waitResult }: Outcomes = event
  return hook === undefined ? (waitResult?.outcome ?? failureCode) : `${hook.index} ${hook.decision}`
}

export const logText = (log: ReadonlyArray<Told>): string => {
  const names = new Map<string, string>()
  return log
    .map((told) => {
      const joins = names.get(told.turn)
      if (told.type === "user_message") {
        const name = firstLine(told)
        if (joins !== undefined) return `user(${name}, in ${joins})`
        names.set(told.turn, name)
      }
      const more = howItWent(told)
      return `${short[told.type] ?? told.type}(${names.get(told.turn)}${more === undefined ? "" : `: ${more}`})`
    })
    .join(" ")
}
