/** Makes an McpFailure of what the SDK, the guarded client or the protocol throws. Only Session.ts leads here. */
import {
  OAuthClientFlowError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { asOutboundFailure, type OutboundReason } from "../../outbound/OutboundFailure.ts"
import { McpFailure, type McpReason } from "./McpFailure.ts"
import { rpcErrorOf, saysGone } from "./refusal.ts"
import { unsupported, unsupportedVersion, wantsInput } from "./unsupported.ts"

/** Stands in for an answer that never comes, in the one place where the SDK would wait on for it. */
export const noAnswer = Symbol("lost")

const outbound: { readonly [R in OutboundReason]: McpReason } = {
  forbidden_address: "unreachable",
  forbidden_url: "unreachable",
  redirect: "unreachable",
  connect: "unreachable",
  timeout: "timeout",
  too_large: "broken",
  protocol: "lost"
}

const said = (text: string) => (text.length <= 2000 ? text : `${text.slice(0, 2000)}…`)

const reasonOf = (error: SdkHttpError): McpReason => {
  const { status } = error
  if (status === 401 || status === 403) return "unauthorized"
  // Those two say that it was not begun. Of another 5xx nobody knows how far it came.
  if (status === 429 || status === 503) return "unreachable"
  if (status >= 500) return "lost"
  return saysGone(error) ? "session" : "refused"
}

const ofHttp = (error: SdkHttpError) => {
  const { status } = error
  const rpc = rpcErrorOf(error.data.text)?.error
  const words = rpc && (unsupported(rpc.data) ?? rpc.message)
  return new McpFailure({
    reason: reasonOf(error),
    status,
    ...(rpc !== undefined && { rpcCode: rpc.code }),
    message: `the server answered with HTTP ${status}${words ? `: ${said(words)}` : ""}`
  })
}

const ofSdk = (error: SdkError): McpFailure => {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return new McpFailure({ reason: "timeout", message: "the server did not answer in time" })
    case SdkErrorCode.ConnectionClosed:
      return new McpFailure({ reason: "lost", message: "the connection ended without an answer" })
    case SdkErrorCode.NotConnected:
      return new McpFailure({ reason: "session", message: "the session has ended" })
    case SdkErrorCode.UnsupportedResultType:
      return new McpFailure({ reason: "refused", message: wantsInput })
    default:
      return new McpFailure({ reason: "broken", message: "the server's answer does not follow the protocol" })
  }
}

/** Ours, be it wrapped by the SDK. */
const own = (error: unknown): McpFailure | undefined => {
  for (let found = error, depth = 0; found instanceof Error && depth < 5; found = found.cause, depth++) {
    if (found instanceof McpFailure) return found
  }
  return undefined
}

/** Of whatever was thrown. */
export const mcpFailure = (error: unknown): McpFailure => {
  const thrown = own(error)
  if (thrown !== undefined) return thrown
  const network = asOutboundFailure(error)
  if (network !== undefined) return new McpFailure({ reason: outbound[network.reason], message: network.message })
  if (error instanceof UnauthorizedError || error instanceof OAuthClientFlowError)
    return new McpFailure({ reason: "unauthorized", message: "the server answered with HTTP 401", status: 401 })
  if (error instanceof SdkHttpError) return ofHttp(error)
  if (error instanceof ProtocolError) {
    return error.data === noAnswer
      ? new McpFailure({ reason: "lost", message: "the connection ended without an answer" })
      : new McpFailure({
          reason: "refused",
          message: unsupported(error.data) ?? said(error.message),
          rpcCode: error.code
        })
  }
  const version = unsupportedVersion(error)
  if (version !== undefined) return new McpFailure({ reason: "unreachable", message: version })
  if (error instanceof SdkError) return ofSdk(error)
  if (error instanceof Error && error.message === "Not connected")
    return new McpFailure({ reason: "session", message: "the session has ended" })
  return new McpFailure({ reason: "broken", message: "the server's answer does not follow the protocol" })
}

/** Work of the SDK, whose signal interruption aborts. */
export const attempt = <A>(work: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: mcpFailure })
