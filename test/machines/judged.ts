/** Turns that are judged, as tests of the rules walk through them. */
import type { OnTimeout, RepliedCall } from "../../machines/thread/commands.ts"
import { Walk } from "./Walk.ts"

export const running = (...calls: ReadonlyArray<RepliedCall>) => {
  const walk = new Walk().queue("A")
  return calls.length === 0 ? walk : walk.reply("", ...calls)
}
/** A turn whose message these hooks judge. */
export const opening = (...hooks: ReadonlyArray<number>) => {
  const walk = new Walk()
  walk.openings = hooks
  return walk.queue("A")
}
/** A turn whose response these hooks judge. */
export const reviewing = (hooks: ReadonlyArray<number>, ...calls: ReadonlyArray<RepliedCall>) => {
  const walk = new Walk().queue("A")
  return walk.do(walk.response("secret", calls, { hooks }))
}
export const allow = { type: "decision", decision: "allow" } as const
export const deny = { type: "decision", decision: "deny" } as const
export const says = (text: string) => ({ content: [{ type: "text" as const, text }] })
export const asks = (onTimeout: OnTimeout, timeoutMs = 1_000) => ({
  ask: { target: "person" as const, timeoutMs, onTimeout }
})

/** What runs now, with its input. */
export const ran = (walk: Walk) =>
  (walk.steps.at(-1)?.jobs ?? []).flatMap(({ params, type }) => (type === "runTool" ? [params.input] : []))
export const lastFacts = (walk: Walk) => walk.steps.at(-1)?.facts.map(({ type }) => type)
export const prompted = (walk: Walk) =>
  walk.asked.map(({ data }) =>
    "content" in data ? data.content : "toolOutput" in data ? data.toolOutput : data.toolInput
  )
