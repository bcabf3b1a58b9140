/**
 * What tools and hooks of test worlds hold the journal to when they are reached: whoever runs has been
 * allowed to before, durably. Asked of the stored facts, not of the live thread.
 */
import type { HookData } from "../../src/domain/hook.ts"
import type { MemoryStore } from "../../src/journal/MemoryStore.ts"

interface Seen {
  readonly type: string
  readonly event: Readonly<Record<string, unknown>>
}

const factsWith = (store: MemoryStore, id: string): ReadonlyArray<Seen> =>
  [...store.actors.values()]
    .flatMap(({ facts }) => facts)
    .filter(({ event }) => event.includes(id))
    .map(({ event, type }) => ({ type, event: JSON.parse(event) }))

const outcomeOf = ({ event }: Seen) => (event.waitResult as { readonly outcome: string }).outcome

/** Somebody has given the grant for the whole thread. */
const givenForAll = (store: MemoryStore, grant: string) =>
  [...store.actors.values()].some(({ facts }) =>
    facts.some(({ detail, type }) => type === "wait_resolved" && detail?.includes(`"approval":{"by":"${grant}"`))
  )

/** What speaks against a run of the call now. `grant`: a person's word is wanted for its tool. */
export const againstRun = (
  store: MemoryStore,
  toolCallId: string,
  grant: string | undefined
): ReadonlyArray<string> => {
  const facts = factsWith(store, toolCallId)
  const of = (type: string) => facts.filter((fact) => fact.type === type)
  const resolved = of("wait_resolved")
  return [
    ...(of("tool_intent").length === 1 ? [] : ["without its intent"]),
    ...(of("tool_result").length === 0 ? [] : ["after its result"]),
    ...(of("wait_created").length === resolved.length ? [] : ["while it waits"]),
    ...(resolved.every((fact) => outcomeOf(fact) === "allow" || outcomeOf(fact) === "expired")
      ? []
      : ["though it was not allowed"]),
    ...(grant === undefined || resolved.some((fact) => outcomeOf(fact) === "allow") || givenForAll(store, grant)
      ? []
      : ["without a person's word"]),
    ...(of("hook_decision").some(({ event }) => (event.hook as { readonly decision: string }).decision === "deny")
      ? ["though a hook denied it"]
      : [])
  ].map((why) => `${toolCallId} ran ${why}`)
}

/**
 * What speaks against asking now: a hook that has decided is not asked again, and what is public is not judged any
 * more.
 */
export const againstQuestion = (store: MemoryStore, deliveryId: string, data: HookData): ReadonlyArray<string> => {
  const decided = factsWith(store, deliveryId).some(({ type }) => type === "hook_decision")
  const told =
    data.point === "after_tool_result" && factsWith(store, data.toolCallId).some(({ type }) => type === "tool_result")
  const intended =
    !("toolCallId" in data) || factsWith(store, data.toolCallId).some(({ type }) => type === "tool_intent")
  return [
    ...(decided ? [`${deliveryId} was asked about after it was decided`] : []),
    ...(told ? [`${deliveryId} is about a result that was told already`] : []),
    ...(intended ? [] : [`${deliveryId} is about a call without an intent`])
  ]
}
