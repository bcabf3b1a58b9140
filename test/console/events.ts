/** A log of two turns for tests of what the console makes of one: calls with a hook, a wait and a failure, and an end each. */
import type { LogEvent } from "../../src/client/follow.ts"

const start = Date.UTC(2026, 0, 1)
const at = (ms: number) => new Date(start + ms).toISOString()

/** `inp_…` that was made so many milliseconds after the start. */
const inputAt = (ms: number) => {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
  let [rest, head] = [start + ms, ""]
  for (let i = 0; i < 10; i++) {
    head = `${alphabet[rest % 32]}${head}`
    rest = Math.floor(rest / 32)
  }
  return `inp_${head}${"0".repeat(16)}`
}

const principal = { type: "user", id: "key_1" } as const
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 } as const
const modelId = "troupe/scripted"
const text = (words: string) => [{ type: "text" as const, text: words }]

export const logEvents = (): ReadonlyArray<LogEvent> => {
  let seq = 0
  const base = (turn: number, ms: number) => {
    seq++
    return { seq, eventId: `evt_${seq}`, threadId: "thr_1", turnId: `trn_${turn}`, occurredAt: at(ms) }
  }
  const [one, two] = ["call_1", "call_2"]
  return [
    {
      ...base(1, 100),
      type: "user_message",
      content: text("go"),
      principal,
      inputId: inputAt(40),
      submitMode: "queue"
    },
    { ...base(1, 300), type: "tool_intent", toolCallId: one, toolName: "a.b", modelId, providerToolCallId: "p1" },
    {
      ...base(1, 300),
      type: "tool_intent",
      toolCallId: two,
      toolName: "agents.ask",
      modelId,
      providerToolCallId: "p2"
    },
    {
      ...base(1, 400),
      type: "hook_decision",
      toolCallId: one,
      hook: {
        decision: "allow",
        hookId: "hook_1",
        index: 0,
        latencyMs: 60,
        point: "before_tool_call",
        processor: "url"
      }
    },
    { ...base(1, 410), type: "wait_created", toolCallId: two, toolName: "agents.ask", waitId: "wait_1", usage },
    { ...base(1, 500), type: "tool_result", toolCallId: one, toolOutput: 1, timing: { durationMs: 90 } },
    { ...base(1, 600), type: "wait_resolved", toolCallId: two, waitId: "wait_1", waitResult: { outcome: "allowed" } },
    { ...base(1, 700), type: "tool_result", toolCallId: two, failureCode: "tool_failed", failureText: "no" },
    { ...base(1, 900), type: "assistant_message", content: text("done here"), modelId, inReplyToSeq: 1 },
    { ...base(1, 900), type: "turn_completed", principal, usage },
    {
      ...base(2, 86_400_000),
      type: "user_message",
      content: text("again"),
      principal,
      inputId: inputAt(86_400_000),
      submitMode: "queue"
    },
    { ...base(2, 86_400_100), type: "assistant_message", content: text("no"), modelId, inReplyToSeq: 11 },
    { ...base(2, 86_400_150), type: "turn_failed", failureCode: "model_error", failureText: "broken", usage }
  ]
}
