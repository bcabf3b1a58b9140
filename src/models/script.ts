/**
 * The language of the scripted models: a message becomes rounds of steps.
 *
 * A line that begins with `/` is a step and belongs to the round in which it stands; `/then` ends a round.
 * Everything else is plain text. A step that cannot be read fails its round with `model_error` and says why:
 * a typing error in a test must not pass as a quiet answer.
 */
import { FinishReason } from "../domain/event.ts"
import { type FailureCode, isFailureCode } from "../domain/failure.ts"

export interface ScriptCall {
  readonly name: string
  /** Parsed JSON; `{}` where the line has none. */
  readonly input: unknown
  /** The raw text, where it was not JSON. */
  readonly invalidInput?: string
}

export interface ScriptFailure {
  /** The only model that fails; absent: every model. */
  readonly model?: string
  readonly code: FailureCode
  readonly text: string
}

export interface Round {
  readonly calls: ReadonlyArray<ScriptCall>
  readonly waitMs: number
  readonly chunks?: { readonly count: number; readonly pauseMs: number }
  readonly failures: ReadonlyArray<ScriptFailure>
  /** The answer breaks off after so many characters. */
  readonly breakAfter?: number
  readonly finishReason?: FinishReason
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
}

export interface Script {
  /** At least one. */
  readonly rounds: ReadonlyArray<Round>
  /** The text of the final response, where `/say` gave one. */
  readonly spoken?: string
  /** Lines that are no steps. */
  readonly plain: string
}

export const emptyRound: Round = { calls: [], waitMs: 0, failures: [] }

type OpenRound = { -readonly [K in keyof Round]: Round[K] } & {
  calls: Array<ScriptCall>
  failures: Array<ScriptFailure>
}

const openRound = (): OpenRound => ({ calls: [], waitMs: 0, failures: [] })

const maxWaitMs = 24 * 60 * 60 * 1000
const maxChunks = 100_000

/** `250ms`, `2s`, `1.5s`; undefined for anything else and for more than a day. */
const milliseconds = (text: string): number | undefined => {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s)$/.exec(text)
  if (match === null) return undefined
  const ms = Math.round(Number(match[1]) * (match[2] === "s" ? 1000 : 1))
  return ms <= maxWaitMs ? ms : undefined
}

const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined

/** First word and the rest, without the blanks between them. */
const cut = (text: string): [word: string, rest: string] => {
  const at = text.search(/\s/)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1).trim()]
}

const words = (text: string) => (text === "" ? [] : text.split(/\s+/))

const readCall = (rest: string): ScriptCall | string => {
  const [name, json] = cut(rest)
  if (name === "") return "/call needs the name of a tool"
  if (json === "") return { name, input: {} }
  try {
    const input: unknown = JSON.parse(json)
    return { name, input }
  } catch {
    return { name, input: {}, invalidInput: json }
  }
}

const readFailure = (step: string, rest: string): ScriptFailure | string => {
  const [code, text] = cut(rest)
  if (!isFailureCode(code)) return `${step} needs a failure code`
  const failure = { code, text: text === "" ? "scripted failure" : text }
  if (step === "/fail") return failure
  const model = step.slice("/fail@".length)
  return model === "" ? "/fail@ needs the id of a model" : { ...failure, model }
}

/** Puts one step into the round; answers what is wrong with it, if anything. */
const take = (round: OpenRound, step: string, rest: string): string | undefined => {
  if (step === "/call") {
    const call = readCall(rest)
    if (typeof call === "string") return call
    round.calls.push(call)
    return undefined
  }
  if (step === "/fail" || step.startsWith("/fail@")) {
    const failure = readFailure(step, rest)
    if (typeof failure === "string") return failure
    round.failures.push(failure)
    return undefined
  }
  if (step === "/wait") {
    const ms = milliseconds(rest)
    if (ms === undefined) return "/wait needs a duration such as 250ms or 2s, at most a day"
    round.waitMs += ms
    return undefined
  }
  if (step === "/chunks") {
    const [countText, pauseText, ...more] = words(rest)
    const count = whole(countText)
    const pauseMs = pauseText === undefined ? 0 : milliseconds(pauseText)
    if (count === undefined || count < 1 || count > maxChunks || pauseMs === undefined || more.length > 0) {
      return "/chunks needs a number of deltas and a pause, such as 20 10ms"
    }
    round.chunks = { count, pauseMs }
    return undefined
  }
  if (step === "/break") {
    const characters = whole(rest)
    if (characters === undefined) return "/break needs a number of characters"
    round.breakAfter = characters
    return undefined
  }
  if (step === "/finish") {
    const finishReason = FinishReason.literals.find((reason) => reason === rest)
    if (finishReason === undefined) return `/finish needs ${FinishReason.literals.join(" or ")}`
    round.finishReason = finishReason
    return undefined
  }
  if (step === "/usage") {
    const [inputText, outputText, ...more] = words(rest)
    const inputTokens = whole(inputText)
    const outputTokens = whole(outputText)
    if (inputTokens === undefined || outputTokens === undefined || more.length > 0)
      return "/usage needs two numbers of tokens"
    round.usage = { inputTokens, outputTokens }
    return undefined
  }
  return `the scripted model knows no step ${step.slice(0, 80)}`
}

export const parseScript = (text: string): Script => {
  if (text.charCodeAt(0) !== 47 && !text.includes("\n/")) return { rounds: [emptyRound], plain: text }
  const rounds: Array<Round> = []
  const plain: Array<string> = []
  const said: Array<string> = []
  let round = openRound()
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith("/")) {
      plain.push(line)
      continue
    }
    const [step, rest] = cut(line)
    if (step === "/then") {
      rounds.push(round)
      round = openRound()
    } else if (step === "/say") {
      said.push(rest)
    } else {
      const problem = take(round, step, rest)
      if (problem !== undefined) round.failures.push({ code: "model_error", text: problem })
    }
  }
  rounds.push(round)
  return { rounds, plain: plain.join("\n").trim(), ...(said.length > 0 ? { spoken: said.join("\n") } : {}) }
}
