/**
 * What may park: an action has a name, parameters, and a way to be carried out. Its endpoint only says where the
 * parameters come from; Actions.ts asks the policy, and runs or parks it.
 */
import type { Effect, Schema } from "effect"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { Tx } from "../../src/database/handle.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { JournalUnavailable } from "../../src/journal/Journal.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import type { OperationAction } from "../../src/operations/operation.ts"
import type { Refused } from "../errors.ts"
import type { KeptAnswer } from "../Idempotency.ts"

/** Who has it carried out: whoever asked, also when somebody else has approved it. */
export interface Asking {
  readonly workspace: string
  readonly principal: Principal
  /** The identity that the credential is bound to. */
  readonly identity?: string
  /** Of an agent: in which turn it asked. */
  readonly from?: {
    readonly threadId: string
    readonly turnId: string
    /** How many turns lead to that one by way of feeds; absent: none. */
    readonly hops?: number
  }
  /** What the request is known by where it comes again: of its operation, or its idempotency key. */
  readonly seed?: string
}

/** A call of a built-in tool. */
export interface ToolRequest {
  readonly name: string
  readonly input: unknown
}

export type Unavailable = DatabaseUnavailable | JournalUnavailable

type Way<Params, R extends Refused> =
  /** Of rows: carried out in one transaction, that of the operation where it parked. What refuses is withdrawn. */
  | {
      readonly type: "change"
      readonly change: (tx: Tx, asking: Asking, params: Params) => Promise<KeptAnswer | R>
      /** Once it is committed: what this node has remembered of it is forgotten. */
      readonly changed?: (asking: Asking, params: Params) => void
      /**
       * The same as one statement, which needs no transaction of its own where it runs at once and no answer has to be
       * kept with it. Undefined where it has written nothing, and the transaction has to decide.
       */
      readonly alone?: (
        asking: Asking,
        params: Params
      ) => Effect.Effect<KeptAnswer | undefined, R | DatabaseUnavailable>
      /** Its endpoint answers with an operation, also when it did not park. */
      readonly wraps?: true
    }
  | {
      readonly type: "read"
      readonly read: (asking: Asking, params: Params) => Effect.Effect<KeptAnswer, R | Unavailable>
    }
  /**
   * Of an actor: the command, which may come twice, and then, in a transaction, what rows tell of it. Its endpoint
   * answers with an operation, also when it did not park, unless it is `plain`.
   */
  | {
      readonly type: "command"
      /** What is refused at once. */
      readonly refuse: (asking: Asking, params: Params) => R | undefined
      /** The same, where it has to be looked up: asked before it parks. */
      readonly check?: (asking: Asking, params: Params) => Effect.Effect<unknown, R | Unavailable>
      readonly plain?: true
      readonly command: (
        asking: Asking,
        params: Params
      ) => Effect.Effect<(tx: Tx) => Promise<KeptAnswer>, R | Unavailable>
      /** Once it is told. */
      readonly afterwards: Effect.Effect<void>
    }

export interface Action<Params, R extends Refused> {
  readonly name: OperationAction
  /** Parameters as they are kept while they wait. */
  readonly params: Schema.Codec<Params, unknown>
  /** What whoever asked must still hold when it is carried out. */
  readonly scope: Scope
  /** Agent that it is about. */
  readonly agentOf?: (workspace: string, params: Params) => Effect.Effect<string | undefined, DatabaseUnavailable>
  /** The tool that stands for the same, with the request as its input; undefined where the agent needs none for it. */
  readonly tool?: (params: Params, agentId: string) => ToolRequest | undefined
  readonly way: Way<Params, R>
}

/** For lists: whatever its parameters are. */
export interface AnyAction {
  readonly name: OperationAction
  readonly scope: Scope
  /** Undefined for parameters that this version does not know. */
  readonly ready: (asking: Asking, request: unknown) => ReadyAction | undefined
  /** What the roles of the agent that asked are asked about before it is carried out; undefined where they are not. */
  readonly toolOf: (request: unknown, agentId: string) => ToolRequest | undefined
}

/** An action with its parameters. */
export type ReadyAction =
  | {
      readonly type: "change"
      readonly change: (tx: Tx) => Promise<KeptAnswer | Refused>
      readonly changed: () => void
    }
  /** A read or a command: done, and then told in a transaction. */
  | {
      readonly type: "steps"
      readonly done: Effect.Effect<(tx: Tx) => Promise<KeptAnswer>, Refused | Unavailable>
      readonly afterwards: Effect.Effect<void>
    }
