/** A tool as turns know it, and how a call of one ends. */
import type { Beside } from "../domain/beside.ts"
import { type Catalogue, offered } from "../toolsets/catalogue.ts"
import type { ToolAnnotations } from "../toolsets/toolset.ts"

/** What a turn's catalogue holds. Never changed once made: whoever validates by its schemas finds them compiled. */
export interface Tool {
  /** Exact: `namespace.tool`. */
  readonly name: string
  readonly toolsetId: string
  readonly namespace: string
  readonly kind: "mcp" | "client"
  readonly exposure: "always" | "search"
  readonly description?: string
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
  /** Only those that count: of a client's tool, and of a server that its toolset trusts. */
  readonly annotations?: ToolAnnotations
  /** Of an MCP tool that has to be run as a task. */
  readonly execution?: { readonly taskSupport: "required" }
  /** Of the wait for a client's result; of the call of an MCP tool, from its beginning or its last word of progress. */
  readonly timeoutMs: number
}

/** Failure codes of a call. */
export type ToolFailureCode =
  | "tool_error"
  | "tool_timeout"
  | "tool_not_found"
  | "toolset_unreachable"
  | "toolset_unauthorized"
  | "tool_outcome_unknown"
  | "identity_disabled"

/** What a running call's server reports: `progress` rises, towards `total` where that is known. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Exactly one of the two. */
export type ToolOutcome =
  | { readonly output: unknown; readonly beside?: Beside; readonly failure?: never }
  | {
      readonly output?: never
      readonly beside?: never
      readonly failure: { readonly code: ToolFailureCode; readonly text: string }
    }

/** Whether a call may run twice without doing more than one does: its maker's word for it, where that counts. */
export const mayRunAgain = ({ annotations }: Pick<Tool, "annotations">) =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true

/**
 * A catalogue's tools as turns use them. Annotations that do not count are left out: nothing else could go by them.
 * `trustedNow` is the toolset's own word.
 */
export const toolsOf = (toolsetId: string, catalogue: Catalogue, trustedNow: boolean): ReadonlyArray<Tool> => {
  const { exposure, kind, namespace, trusted = trustedNow } = catalogue
  const counts = kind === "client" || trusted
  return offered(catalogue).map(({ annotations, ...tool }) => ({
    ...tool,
    ...(counts && annotations !== undefined && { annotations }),
    name: `${namespace}.${tool.name}`,
    toolsetId,
    namespace,
    kind,
    exposure
  }))
}

/** The name that the tool's maker gave it. */
export const ownName = ({ name, namespace }: Pick<Tool, "name" | "namespace">) => name.slice(namespace.length + 1)
