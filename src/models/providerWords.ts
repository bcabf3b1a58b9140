/**
 * What providers say when they fail, in prose and in codes: the phrases that a failure is told apart by where its
 * status does not tell enough. Phrases are looked for in lower case.
 *
 * A row without a source is a phrase that nobody has found documented.
 */

/** What a phrase says of the request that failed. */
export type ProviderWord =
  /** It is longer than the model takes. */
  | "overflow"
  /** Its content, or the answer's, is against a rule. */
  | "content"
  /** Nobody has paid for it: another try would not help. */
  | "quota"
  /** There is no such model, or no right to it. */
  | "model"
  /** An answer of 500 and above: the provider has too much to do. */
  | "busy"
  /** The same in a stream that had begun with success. */
  | "overloaded"
  /** It came too soon, in a stream that had begun with success. */
  | "rate"
  /** The provider broke, in a stream that had begun with success. */
  | "broken"
  /** The connection broke, or there was none. */
  | "network"
  /** It is about an image's format. */
  | "image"
  /** Of a message about an image's format: the formats that it names are those that are taken. */
  | "allowed"

interface Saying {
  readonly provider: string
  readonly word: ProviderWord
  readonly phrase: RegExp
  /** A page or an issue that has the phrase. */
  readonly source?: string
}

const openAi = "https://developers.openai.com/docs/guides/error-codes"
const google = "https://ai.google.dev/gemini-api/docs/troubleshooting"
const llama = "https://github.com/ggml-org/llama.cpp/pull/15780"
const anthropicLength = "https://github.com/anthropics/claude-code/issues/12186"
const azureFilter = "https://github.com/microsoft/azurechat/issues/351"
const bedrock = "https://github.com/coder/mux/issues/1702"
const azureLength = "https://portkey.ai/error-library/context-length-error-10012"
const googleKey = "https://www.developersdigest.tech/errors/api/gemini-api"
const shellGpt = "https://github.com/mattvr/ShellGPT/issues/23"

const sayings: ReadonlyArray<Saying> = [
  { provider: "openai", word: "overflow", phrase: /context_length_exceeded|context[_ ]window/ },
  { provider: "azure", word: "overflow", phrase: /context length|reduce the length/, source: azureLength },
  { provider: "llama.cpp", word: "overflow", phrase: /exceed_context_size|context size/, source: llama },
  { provider: "anthropic", word: "overflow", phrase: /prompt is too long/, source: anthropicLength },
  { provider: "anthropic", word: "overflow", phrase: /request_too_large/ },
  { provider: "bedrock", word: "overflow", phrase: /input is too long/, source: bedrock },
  { provider: "google", word: "overflow", phrase: /input token count|maximum number of tokens/ },
  { provider: "any", word: "overflow", phrase: /too many (input )?tokens/ },

  { provider: "azure", word: "content", phrase: /content_filter|content management policy/, source: azureFilter },
  { provider: "azure", word: "content", phrase: /responsible_ai/ },
  { provider: "openai", word: "content", phrase: /content_policy|content policy|safety_violation|invalid_prompt/ },
  { provider: "google", word: "content", phrase: /prohibited_content|blocklist/ },
  { provider: "any", word: "content", phrase: /policy violation/ },

  { provider: "openai", word: "quota", phrase: /insufficient_quota/, source: shellGpt },
  { provider: "openai", word: "quota", phrase: /exceeded your current quota|billing/, source: openAi },
  { provider: "anthropic", word: "quota", phrase: /credit balance/ },

  { provider: "openai", word: "model", phrase: /model_not_found|invalid_api_key/ },
  { provider: "google", word: "model", phrase: /api key not valid|api_key_invalid/, source: googleKey },
  { provider: "any", word: "model", phrase: /model .*(not found|does not exist|not exist)/ },
  { provider: "any", word: "model", phrase: /unknown model|no such model/ },

  { provider: "anthropic", word: "busy", phrase: /overload/ },
  { provider: "google", word: "busy", phrase: /unavailable|capacity/, source: google },
  { provider: "openai", word: "busy", phrase: /slow_down/ },
  { provider: "any", word: "busy", phrase: /try again later/ },

  { provider: "anthropic", word: "overloaded", phrase: /overloaded/ },
  { provider: "any", word: "rate", phrase: /rate_?limit/ },
  { provider: "anthropic", word: "broken", phrase: /api_error/ },
  { provider: "openai", word: "broken", phrase: /server_error/ },
  { provider: "google", word: "broken", phrase: /internal/, source: google },
  { provider: "node", word: "broken", phrase: /terminated|aborted/ },

  {
    provider: "node",
    word: "network",
    phrase: /econnrefused|econnreset|enotfound|eai_again|etimedout|epipe|ehostunreach|enetunreach/,
    source: "https://nodejs.org/api/errors.html#common-system-errors"
  },
  { provider: "node", word: "network", phrase: /und_err|socket|fetch failed/ },
  { provider: "any", word: "network", phrase: /cannot connect|connection ?(closed|refused)/ },

  { provider: "any", word: "image", phrase: /unsupported image|unsupported mime/ },
  {
    provider: "any",
    word: "image",
    phrase: /(image|media|mime)[ _](format|type)s?[^\n]*(unsupported|not supported|should be|must be|not allowed)/
  },
  {
    provider: "any",
    word: "image",
    phrase: /(unsupported|not supported|does not support|invalid)[^\n]*((image|media|mime)[ _](format|type)|image\/)/
  },
  { provider: "any", word: "allowed", phrase: /should be|must be|following|supported (image )?(format|type)s|only/ }
]

/** Whether a provider's text, in lower case, has a phrase that says this. */
export const says = (word: ProviderWord, text: string) =>
  sayings.some((saying) => saying.word === word && saying.phrase.test(text))
