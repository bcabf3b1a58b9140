/**
 * Holds a request to Anthropic to the tokens that it asks for. The package adds the tokens of thinking to them where a
 * model is told how many these are: a response might cost many times what is set aside for it.
 */

/** Fewer the provider refuses. */
const leastThinking = 1_024

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Half of the tokens are for thinking at most; the model does not think where the half is too little for that. */
export const withinTokens = (request: unknown, maxTokens: number): unknown => {
  if (!isObject(request) || typeof request.max_tokens !== "number") return request
  const { thinking, ...rest } = request
  const most = Math.min(request.max_tokens, maxTokens)
  if (!isObject(thinking) || typeof thinking.budget_tokens !== "number") return { ...request, max_tokens: most }
  const budget = Math.min(thinking.budget_tokens, Math.floor(most / 2))
  const held = { ...rest, max_tokens: most }
  return budget < leastThinking ? held : { ...held, thinking: { ...thinking, budget_tokens: budget } }
}

/** A fetch whose requests are held to them. */
export const fetchWithinTokens = (
  fetch: typeof globalThis.fetch,
  maxTokens: number | undefined
): typeof globalThis.fetch =>
  maxTokens === undefined
    ? fetch
    : (input, init) =>
        typeof init?.body === "string"
          ? fetch(input, { ...init, body: JSON.stringify(withinTokens(JSON.parse(init.body), maxTokens)) })
          : fetch(input, init)
