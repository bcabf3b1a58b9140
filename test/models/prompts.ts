/** Prompts for tests of models: a conversation told in a few words. */
import { Effect } from "effect"
import { ModelFailure, Models, type Prompt, type PromptMessage, type SampleRequest } from "../../src/models/Model.ts"

export const turnId = "turn_1"

export const user = (text: string, turn = turnId): PromptMessage => ({
  role: "user",
  turnId: turn,
  content: [{ type: "text", text }]
})

export const said = (text: string, turn = turnId): PromptMessage => ({
  role: "assistant",
  turnId: turn,
  modelId: "troupe/scripted",
  text,
  calls: []
})

export const called = (
  ...calls: ReadonlyArray<readonly [id: string, name: string, input?: unknown]>
): PromptMessage => ({
  role: "assistant",
  turnId,
  modelId: "troupe/scripted",
  text: "",
  calls: calls.map(([id, name, input]) => ({ toolCallId: id, providerToolCallId: `p_${id}`, name, input: input ?? {} }))
})

export const result = (id: string, name: string, output: unknown): PromptMessage => ({
  role: "tool",
  turnId,
  toolCallId: id,
  providerToolCallId: `p_${id}`,
  name,
  output
})

export const refused = (id: string, name: string, code: string, text: string): PromptMessage => ({
  role: "tool",
  turnId,
  toolCallId: id,
  providerToolCallId: `p_${id}`,
  name,
  output: undefined,
  failure: { code, text }
})

export const promptOf = (messages: ReadonlyArray<PromptMessage>, more: Partial<Prompt> = {}): Prompt => ({
  messages,
  tools: [],
  turnId,
  purpose: "turn",
  ...more
})

/** Samples, and keeps the deltas. */
export const sampled = (modelId: string, prompt: Prompt) => {
  const deltas: Array<string> = []
  const request: SampleRequest = { modelId, prompt, onText: (text) => deltas.push(text) }
  return Models.use((models) => models.sample(request)).pipe(Effect.map((reply) => ({ ...reply, deltas })))
}

/** The failure of a sample that must fail. */
export const failed = (modelId: string, prompt: Prompt) =>
  sampled(modelId, prompt).pipe(
    Effect.flip,
    Effect.map((failure) => {
      if (!(failure instanceof ModelFailure)) throw new Error("not a ModelFailure")
      return failure
    })
  )
