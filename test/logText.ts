/**
 * A thread's public log in one line, turns by name: `user(A) assistant(A) user(S, in A) turn_completed(A)`.
 * An input is named by the first line of its text.
 */
interface Told {
  readonly type: string
  readonly turn: string
  readonly event: Readonly<Record<string, unknown>>
}

const short: Readonly<Record<string, string>> = {
  user_message: "user", assistant_message: "assistant", tool_intent: "intent", tool_result: "result"
}

const firstLine = ({ event }: Told) => /"text":"(?<line>.*?)(?:\\n|")/.exec(JSON.stringify(event["content"]))?.groups?.["line"] ?? "?"

export const logText = (log: ReadonlyArray<Told>): string => {
  const names = new Map<string, string>()
  return log.map((told) => {
    const joins = names.get(told.turn)
    if (told.type === "user_message") {
      const name = firstLine(told)
      if (joins !== undefined) return `user(${name}, in ${joins})`
      names.set(told.turn, name)
    }
    const failure = told.event["failureCode"]
    return `${short[told.type] ?? told.type}(${names.get(told.turn)}${typeof failure === "string" ? `: ${failure}` : ""})`
  }).join(" ")
}
