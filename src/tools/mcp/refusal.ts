/**
 * An answer of HTTP 4xx or 5xx: what it says of the session that it was sent in, and what the server says in its body.
 *
 * E1. The body is read without the credentials that the server was asked with, and only where it is an error of the
 *     protocol.
 * E2. A 4xx within a session says that the session is gone, unless it is about the credential or the load, or answers
 *     this very request with an error of the tool's own.
 */
import { ProtocolErrorCode, SdkHttpError } from "@modelcontextprotocol/client"
import { Result, Schema } from "effect"
import { hide } from "./hide.ts"

const RpcError = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    error: Schema.Struct({
      code: Schema.Int,
      message: Schema.optionalKey(Schema.String),
      data: Schema.optionalKey(Schema.Unknown)
    })
  })
)
const decode = Schema.decodeUnknownResult(RpcError)

/** The error of the protocol that a body holds, if it holds one. */
export const rpcErrorOf = (body: unknown) => {
  const read = decode(body)
  return Result.isSuccess(read) ? read.success : undefined
}

/** With these a server says that it did not begin with the request: its form, its method, its session. */
const notBegun = new Set<number>([
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
  -32000,
  -32001
])

/** What was asked when the answer came. */
export interface McpRequest {
  /** Of the request; undefined for a notification. */
  readonly id: unknown
  readonly inSession: boolean
  readonly secrets: Iterable<string>
}

/** The same error with what `mcpFailure` has to know of the request, and without the secrets (E1). */
export const refusalOf = (error: SdkHttpError, { id, inSession, secrets }: McpRequest) => {
  const said = rpcErrorOf(error.data.text)
  if (said !== undefined) hide(said, secrets)
  const begun = said !== undefined && id !== undefined && said.id === id && !notBegun.has(said.error.code)
  return new SdkHttpError(
    error.code,
    error.message,
    {
      status: error.status,
      ...(said !== undefined && { text: JSON.stringify(said) }),
      inSession,
      begun
    },
    { cause: error.cause }
  )
}

/** Whether it says that the session is over and that nothing was begun (E2). A 404 says so by the protocol itself. */
export const saysGone = ({ data, status }: SdkHttpError) =>
  status === 404 || (status >= 400 && status < 500 && data.inSession === true && data.begun !== true)
