/**
 * JSON texts as the journal stores them: what they say again and again is one character each.
 *
 * Half of an ordinary fact is the same words in every fact. The characters are controls, which no JSON
 * text holds raw, so that any JSON comes back as it was. In SQL `readable` spells it out.
 *
 * S1. A stored text means what this list meant when it was written. A phrase is only added, at the end,
 *     together with a migration that replaces `readable`.
 */
export const phrases = [
  `{"type":"user_message","content":[{"type":"text","text":"`,
  `{"type":"assistant_message","content":[{"type":"text","text":"`,
  `{"type":"tool_intent","toolName":"`,
  `{"type":"tool_result","toolCallId":"call_`,
  `{"type":"turn_completed","usage":{"inputTokens":`,
  `"}],"principal":`,
  `{"type":"api_key","id":"key_`,
  `"},"submitMode":"queue","inputId":"inp_`,
  `{"plan":{"profileId":"prof_`,
  `","profileVersion":`,
  `,"models":["`,
  `"}],"modelId":"`,
  `","inReplyToSeq":`,
  `,"toolInput":`,
  `,"toolCallId":"call_`,
  `,"toolOutput":`,
  `{"step":`,
  `"usage":{"inputTokens":`,
  `,"outputTokens":`,
  `,"totalTokens":`,
  `,"estimatedCost":`,
  `},"principal":`,
  `{"turn":{"turnId":"trn_`,
  `},"model":"`,
  `"createdBy":`
] as const

/** Those that JSON does not allow between its tokens either: all but tab, line feed and carriage return. */
const signs = [...Array(31).keys()]
  .map((i) => i + 1)
  .filter((code) => code !== 9 && code !== 10 && code !== 13)
  .map((code) => String.fromCharCode(code))

/** Each sign with its phrase. */
export const shorthand: ReadonlyArray<readonly [sign: string, phrase: string]> = phrases.map((phrase, i) => [
  signs[i]!,
  phrase
])

const signOf = new Map(shorthand.map(([sign, phrase]) => [phrase, sign]))
const phraseOf = new Map(shorthand)

const anyPhrase = new RegExp(phrases.map((phrase) => phrase.replace(/[[\]{}]/g, "\\$&")).join("|"), "g")
const anySign = new RegExp(`[${signs.join("")}]`, "g")

/** A JSON text as it is stored. */
export const short = (json: string) => json.replace(anyPhrase, (phrase) => signOf.get(phrase) ?? phrase)

/** What the stored texts of all JSON that begins so begin with. */
export const storedBeginnings = (json: string): ReadonlyArray<string> => [
  json,
  ...shorthand.flatMap(([sign, phrase]) => (phrase.startsWith(json) ? [sign] : []))
]

/** A stored text as the JSON that it stands for. */
export const long = (stored: string) => stored.replace(anySign, (sign) => phraseOf.get(sign) ?? sign)
