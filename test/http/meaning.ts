/**
 * Rules that JSON Schema has no words for: a request that fits the document may be refused by one of these and by
 * nothing else.
 *
 * Each is told by the message that names it, and believed only where the request breaks it: no refusal of a shape
 * passes for one of meaning.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import { cronProblem } from "../../src/schedules/cron.ts"
import { conditionOf, isInvalid } from "../../src/subscriptions/condition.ts"
import { isObject } from "./jsonSchema.ts"
import { type Operation, titleOf } from "./document.ts"
import type { Sent } from "./requests.ts"

interface Said {
  readonly sent: Sent
  /** What stands where the message points to: in the body, or in the query. */
  readonly value: unknown
  /** What the parentheses of `says` hold. */
  readonly parts: ReadonlyArray<string>
}

interface Rule {
  /** Of a whole message, its path left out where `at` is absent. */
  readonly says: RegExp
  readonly at?: RegExp
  readonly of?: RegExp
  readonly isBroken: (said: Said) => boolean
}

const bytesOf = (value: unknown) => Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
const blocksOf = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])
const textsOf = (value: unknown) => blocksOf(value).map(({ text }) => (typeof text === "string" ? text : ""))
const hasTwice = (values: ReadonlyArray<unknown>) => new Set(values).size < values.length
const bodyOf = ({ body }: Sent) => (isObject(body) ? body : {})
const ownOf = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value
  )

/** Of two days of UTC, the second of which is today where it is not told. */
const daysBefore = (from: unknown, to: unknown) => {
  const day = (value: unknown) => Math.floor(Date.parse(String(value)) / 86_400_000)
  return (to === undefined ? Math.floor(Date.now() / 86_400_000) : day(to)) - day(from)
}

const rules: ReadonlyArray<Rule> = [
  // Of subscriptions: what is CEL, what has instants, what the feed holds.
  {
    says: /, at position \d+$/,
    at: /^condition$/,
    isBroken: ({ value }) => typeof value === "string" && isInvalid(conditionOf(value))
  },
  {
    says: /^(?:expected|it has)/,
    at: /^cadence\.(?:expression|timezone)$/,
    isBroken: ({ sent }) => {
      const said = (name: string) => String(ownOf(sent.body, "cadence", name))
      return cronProblem(said("expression"), said("timezone"), Date.now()) !== undefined
    }
  },
  {
    says: /^expected at most \d+, the feed's last seq$/,
    at: /^cursor$/,
    isBroken: ({ value }) => typeof value === "number" && value > 0
  },
  {
    says: /^is required$/,
    at: /^screen\.model$/,
    of: /^PATCH /,
    isBroken: ({ sent }) => ownOf(sent.body, "screen", "model") === undefined
  },
  // Bytes, not characters.
  {
    says: /^expected a (?:text|URL|value) of at most (\d+) bytes$/,
    isBroken: ({ parts, value }) => bytesOf(typeof value === "string" ? value.trim() : value) > Number(parts[0])
  },
  {
    says: /^expected at most (\d+) bytes of text in all$/,
    isBroken: ({ parts, value }) => textsOf(value).reduce((sum, text) => sum + bytesOf(text), 0) > Number(parts[0])
  },
  {
    says: /^expected at most (\d+) bytes of encoded JSON$/,
    isBroken: ({ parts, value }) => bytesOf(JSON.stringify(value)) > Number(parts[0])
  },
  {
    says: /^expected a JSON Schema of at most (\d+) bytes$/,
    isBroken: ({ parts, value }) => bytesOf(JSON.stringify(value)) > Number(parts[0])
  },
  {
    says: /^expected a usable JSON Schema \(.+\)$/,
    isBroken: ({ value }) => {
      try {
        new Ajv2020({ strict: false, validateFormats: false }).compile(isObject(value) ? value : {})
        return false
      } catch {
        return true
      }
    }
  },
  // No string of Unicode, though JSON can write it.
  { says: /^expected well-formed text$/, isBroken: ({ value }) => typeof value === "string" && !value.isWellFormed() },
  // Unique by one of several properties.
  {
    says: /^expected image ids that are unique within the message$/,
    isBroken: ({ value }) =>
      hasTwice(blocksOf(value).flatMap(({ imageId }) => (imageId === undefined ? [] : [imageId])))
  },
  {
    says: /^expected tools with different names$/,
    isBroken: ({ value }) => hasTwice(blocksOf(value).map(({ name }) => name))
  },
  {
    says: /^must not stand twice$/,
    at: /^hooks\[\d+\]\.id$/,
    isBroken: ({ sent }) => hasTwice(blocksOf(bodyOf(sent).hooks).flatMap(({ id }) => (id === undefined ? [] : [id])))
  },
  // What only a parser of URLs knows.
  { says: /^expected an https:\/\/ URL$/, isBroken: ({ value }) => typeof value === "string" && !URL.canParse(value) },
  {
    says: /^expected a time in the years 0 to 9999$/,
    isBroken: ({ value }) => {
      const year = new Date(String(value)).getUTCFullYear()
      return year < 0 || year > 9999
    }
  },
  // The clock, and what there is already.
  {
    says: /^expected a time in the future$/,
    at: /^expiresAt$/,
    isBroken: ({ value }) => Date.parse(String(value)) <= Date.now()
  },
  {
    says: /^not a hook of this profile's latest version$/,
    at: /^hooks\[\d+\]\.id$/,
    isBroken: ({ value }) => typeof value === "string"
  },
  {
    says: /^expected one of the kind that the connection holds$/,
    at: /^secret$/,
    of: /^PATCH /,
    isBroken: ({ value }) => isObject(value)
  },
  {
    says: /^is required, or a baseUrl: they say where the secret may be sent$/,
    at: /^allowedHosts$/,
    of: /^PATCH /,
    isBroken: ({ sent }) =>
      ownOf(sent.body, "allowedHosts") === null ||
      ownOf(sent.body, "baseUrl") === null ||
      ownOf(sent.body, "provider") !== undefined
  },
  // A list's cursor is a list's own.
  {
    says: /^(?:not a cursor of this (?:interface|list)|made for another \w+)$/,
    at: /^cursor$/,
    of: /^GET /,
    isBroken: ({ value }) => value !== undefined
  },
  // What only a calendar knows.
  {
    says: /^expected a name of the IANA database, such as Europe\/Berlin$/,
    at: /^trigger\.timezone$/,
    isBroken: ({ value }) => {
      try {
        new Intl.DateTimeFormat("en", { timeZone: String(value) })
        return !/^[A-Za-z]/.test(String(value))
      } catch {
        return true
      }
    }
  },
  {
    says: /^.+$/,
    at: /^trigger\.expression$/,
    isBroken: ({ value }) => typeof value === "string" && cronProblem(value, "UTC", Date.now()) !== undefined
  },
  {
    says: /^expected a moment within a hundred years$/,
    at: /^trigger\.(?:at|startAt)$/,
    isBroken: ({ value }) => Date.parse(String(value)) > Date.now() + 99 * 365 * 86_400_000
  },
  {
    says: /^expected a moment that is still to come$/,
    at: /^trigger\.at$/,
    isBroken: ({ value }) => Date.parse(String(value)) <= Date.now()
  },
  // A trigger has the fields of its type.
  {
    says: /^is required$/,
    at: /^trigger\.(?:type|expression|timezone|seconds|at)$/,
    of: /^PATCH /,
    isBroken: ({ sent }) => isObject(bodyOf(sent).trigger)
  },
  {
    says: /^unknown field$|^is not a field$|unexpected/i,
    at: /^trigger\./,
    of: /^PATCH /,
    isBroken: ({ sent }) => isObject(bodyOf(sent).trigger)
  },
  // Parameters are independent of each other in OpenAPI.
  {
    says: /^not together with startSeq or endSeq$/,
    at: /^tailOffset$/,
    isBroken: ({ sent }) => sent.query.startSeq !== undefined || sent.query.endSeq !== undefined
  },
  {
    says: /^not together with state$/,
    at: /^status$/,
    isBroken: ({ sent }) => sent.query.state !== undefined
  },
  {
    says: /^expected JSON of at most (\d+) bytes$/,
    isBroken: ({ parts, value }) => bytesOf(JSON.stringify(value)) > Number(parts[0])
  },
  {
    says: /^expected messages whose text and tags have at most (\d+) bytes together$/,
    isBroken: ({ parts, value }) =>
      blocksOf(value)
        .flatMap(({ tags, text }) => [text, ...(Array.isArray(tags) ? tags : [])])
        .reduce((sum: number, one) => sum + bytesOf(one), 0) > Number(parts[0])
  },
  {
    says: /^not together with (cursor|order)(?:=desc)?$/,
    at: /^(?:afterSeq|waitSeconds)$/,
    of: /events$/,
    isBroken: ({ parts, sent, value }) => value !== undefined && sent.query[parts[0]!] !== undefined
  },
  {
    says: /^not together with (cursor|order)(?:=desc)?$/,
    at: /^afterPos$/,
    of: /steps$/,
    isBroken: ({ parts, sent, value }) => value !== undefined && sent.query[parts[0]!] !== undefined
  },
  { says: /^not together with pos$/, at: /^seq$/, isBroken: ({ sent }) => sent.query.pos !== undefined },
  {
    says: /^expected a day that is not after to$/,
    at: /^from$/,
    isBroken: ({ sent, value }) => daysBefore(value, sent.query.to) < 0
  },
  {
    says: /^expected a day at most (\d+) days before to$/,
    at: /^from$/,
    isBroken: ({ parts, sent, value }) => daysBefore(value, sent.query.to) > Number(parts[0])
  },
  // What a merge patch leaves.
  {
    says: /^is required$/,
    at: /^budget\.(?:limit|window)$/,
    of: /^PATCH /,
    isBroken: ({ sent, value }) => value === undefined && isObject(bodyOf(sent).budget)
  },
  { says: /^expected at most 16 pairs$/, at: /^metadata$/, of: /^PATCH /, isBroken: ({ value }) => isObject(value) },
  {
    says: /^only a toolset of kind (mcp|client) has it$/,
    of: /^PATCH /,
    isBroken: ({ parts, sent }) =>
      Object.keys(bodyOf(sent)).some((name) =>
        (parts[0] === "mcp"
          ? ["url", "transport", "connectionId", "trusted", "timeoutMs", "toolTimeouts"]
          : ["tools"]
        ).includes(name)
      )
  },
  // What is judged decides what may take its place; of a call, its tool's own schema.
  {
    says: /^.+$/,
    at: /^rewrite\.toolInput(?:$|[.[])/,
    isBroken: ({ sent }) => ownOf(sent.body, "rewrite", "toolInput") !== undefined
  },
  {
    says: /^brings in an image$/,
    at: /^rewrite\.content$/,
    isBroken: ({ value }) => blocksOf(value).some(({ type }) => type === "image")
  },
  { says: /^takes all content away$/, at: /^rewrite\.content$/, isBroken: ({ value }) => blocksOf(value).length === 0 },
  {
    says: /^at \w+ it holds (\w+), and nothing else\.$/,
    at: /^rewrite/,
    isBroken: ({ parts, sent }) =>
      ownOf(sent.body, "rewrite") !== undefined && ownOf(sent.body, "rewrite", parts[0]!) === undefined
  }
]

/** What a path such as `hooks[1].match.tools` leads to; a name may hold whatever parts a path, too. */
const find = (value: unknown, path: string): unknown => {
  if (path === "" || path === "the body") return value
  const [whole, index] = /^\[(\d+)\]/.exec(path) ?? []
  if (whole !== undefined && Array.isArray(value)) return find(value[Number(index)], path.slice(whole.length))
  if (!isObject(value)) return undefined
  // Behind an index.
  const rest = path.replace(/^\.(?=.)/, "")
  for (const [name, held] of Object.entries(value)) {
    if (rest === name || path === name) return held
    const after = rest.startsWith(name) ? rest.slice(name.length) : ""
    const found = after.startsWith(".")
      ? find(held, after.slice(1))
      : after.startsWith("[")
        ? find(held, after)
        : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** A message may name several problems, and how many there are more. */
const problemsOf = (message: string) => message.split("; ").filter((problem) => !/^and \d+ more$/.test(problem))

/** Whether all that a 400 names is such that the document cannot say it, and the request is guilty of it. */
export const isOfMeaning = (operation: Operation, sent: Sent, message: string): boolean =>
  problemsOf(message).every((problem) => isGuilty(operation, sent, problem))

/** `path: what is wrong`, or what is wrong alone; either may hold a colon. */
const readingsOf = (problem: string) => [
  { path: "", said: problem },
  ...[...problem.matchAll(/: /g)].map(({ index }) => ({
    path: problem.slice(0, index),
    said: problem.slice(index + 2)
  }))
]

const isGuilty = (operation: Operation, sent: Sent, problem: string): boolean =>
  readingsOf(problem).some(({ path, said }) =>
    rules.some(({ at, isBroken, of, says }) => {
      const found = says.exec(said)
      if (found === null || at?.test(path) === false || of?.test(titleOf(operation)) === false) return false
      const inQuery = Object.hasOwn(sent.query, path)
      return isBroken({
        sent,
        value: inQuery ? sent.query[path] : find(sent.body, path),
        parts: found.slice(1).map(String)
      })
    })
  )
