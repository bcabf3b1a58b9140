/**
 * What servers may want of a client and Troupe does not have: other versions, sampling, elicitation, roots. In words
 * that say what to do.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/client"
import { Option, Schema } from "effect"

/** All that the SDK speaks, newest first: the revision of 2026 is not in its list. */
const versions = ["2026-07-28", ...SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== "2026-07-28")]

/** A server's own word, as far as it can be one. */
const word = (text: string) => (text.length <= 40 ? text : `${text.slice(0, 40).toWellFormed()}…`)

const otherVersion = (theirs: ReadonlyArray<string>) =>
  `the server speaks version ${theirs.slice(0, 8).map(word).join(", ")} of MCP, and Troupe speaks ` +
  `${versions.join(", ")}: use a version of the server that speaks one of those`

const Supported = Schema.Struct({ supported: Schema.NonEmptyArray(Schema.String) })
const Required = Schema.Struct({ requiredCapabilities: Schema.Record(Schema.String, Schema.Unknown) })
const readSupported = Schema.decodeUnknownOption(Supported)
const readRequired = Schema.decodeUnknownOption(Required)

const wanted: { readonly [capability: string]: string } = {
  sampling: "sampling (the answer of a model)",
  elicitation: "elicitation (the answer of a person)",
  roots: "roots (folders of the client)",
  tasks: "tasks of the client"
}

const doesNotGive =
  "which Troupe does not give to tool servers: use a tool, an input or a setting of the server that does without"

/** The capability that a request of a server to its client takes; undefined where it takes none. */
const capabilities: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots"
}

/** Why a request of the server is not answered; undefined for one that is none of those. */
export const refusesRequest = (method: string): string | undefined => {
  const capability = Object.hasOwn(capabilities, method) ? capabilities[method] : undefined
  return capability === undefined ? undefined : `the server asked for ${wanted[capability]}, ${doesNotGive}`
}

/** A call that the server would go on with after an answer of its client's user. */
export const wantsInput = `the tool asked its client for input, such as elicitation or sampling, ${doesNotGive}`

/** What an error of the protocol says by its data; undefined where it is about something else. */
export const unsupported = (data: unknown): string | undefined => {
  const supported = readSupported(data)
  if (Option.isSome(supported)) return otherVersion(supported.value.supported)
  const required = readRequired(data)
  if (Option.isNone(required)) return undefined
  const names = Object.keys(required.value.requiredCapabilities).slice(0, 4)
  return (
    "the server wants a client with " +
    `${names.map((name) => (Object.hasOwn(wanted, name) ? wanted[name] : word(name))).join(" and ")}, ` +
    `${doesNotGive}`
  )
}

const refusedVersion = "Server's protocol version is not supported: "

/** What the SDK says when a server has answered its `initialize` with a version that the SDK does not know. */
export const unsupportedVersion = (error: unknown): string | undefined =>
  error instanceof Error && error.message.startsWith(refusedVersion)
    ? otherVersion([error.message.slice(refusedVersion.length)])
    : undefined
