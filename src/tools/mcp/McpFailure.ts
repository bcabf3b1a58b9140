/**
 * Why an MCP server brought no result: one type for all reasons. It imports nothing of the SDK, which a node without
 * tool servers does not load; `thrown.ts` makes it of what the SDK throws.
 */
import { Data } from "effect"

export type McpReason =
  /** This node could not ask: nothing is known of the server. Nothing was carried out. */
  | "unasked"
  /** There is no server, or none that serves now. Nothing was carried out. */
  | "unreachable"
  /** The credential is missing, wrong or not enough. Nothing was carried out. */
  | "unauthorized"
  /** The session has ended: a new one may do. Nothing was carried out. */
  | "session"
  /** The server said no: `rpcCode` is the protocol's, if it was said in the protocol. */
  | "refused"
  /** It answered with what is no MCP, or more than is read. It may have been carried out. */
  | "broken"
  /** Time passed. It may have been carried out. */
  | "timeout"
  /** The connection ended without an answer. It may have been carried out. */
  | "lost"

export class McpFailure extends Data.TaggedError("McpFailure")<{
  readonly reason: McpReason
  /** For people. Of a server's own words only what an error of the protocol says. */
  readonly message: string
  readonly rpcCode?: number
  /** Of the HTTP answer, if it was one that failed. */
  readonly status?: number
  /** There was no session to ask in: whatever the reason, nothing was carried out. */
  readonly opening?: true
}> {}

/** The same failure, but for what is said here. */
export const failureWith = (
  { message, opening, reason, rpcCode, status }: McpFailure,
  change: { readonly reason?: McpReason; readonly message?: string; readonly opening?: true }
) =>
  new McpFailure({
    reason,
    message,
    ...(rpcCode !== undefined && { rpcCode }),
    ...(status !== undefined && { status }),
    ...(opening && { opening }),
    ...change
  })
