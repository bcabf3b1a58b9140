/**
 * The family `memory`: notes that outlive the thread, in the agent's own store and in that of the workspace.
 *
 * M1. The profile says which stores may be read and written. A refusal is a `tool_error` that begins with the word that
 *     the endpoint would have refused with.
 * M2. A write has the version that derives from its call, however often that runs: a call that runs again finds what it
 *     wrote, whatever has become of the entry since. A call that wrote nothing leaves nothing to find.
 */
import { Effect, Result, Schema } from "effect"
import type { Database } from "../../../../src/database/Database.ts"
import { withdrawable } from "../../../../src/database/withdrawable.ts"
import { limits } from "../../../../src/domain/limits.ts"
import { utf8Bytes } from "../../../../src/domain/text.ts"
import { mayInStore, type StoreName } from "../../../../src/memory/may.ts"
import {
  ExpectedVersion,
  isTooLong,
  MemoryKey,
  MemoryPrefix,
  MemoryQuery,
  MemoryValue,
  type Store
} from "../../../../src/memory/memory.ts"
import { listEntries, readEntry } from "../../../../src/memory/reading.ts"
import { putRefusal, tooLong } from "../../../../src/memory/refusals.ts"
import { searchEntries } from "../../../../src/memory/searching.ts"
import { type Author, type Write, write, writeAlone, type Written } from "../../../../src/memory/writing.ts"
import type { ToolApproval } from "../approval.ts"
import { begunBy } from "../derivedIds.ts"
import type { BuiltInOutcome } from "../toolkit.ts"
import { type BuiltInBy, builtIn, type Family, toolError } from "../builtIn.ts"

export interface MemoryStores {
  readonly approval: ToolApproval
  readonly database: Database["Service"]
  /** Milliseconds by the journal's clock. */
  readonly now: () => number
}

const usual = 20
const most = 50

const store = Schema.optionalKey(
  Schema.Literals(["agent", "workspace"]).annotate({
    description: "Your own notes, agent, which it is when left out; or those that all agents share, workspace."
  })
)
const key = MemoryKey.annotate({ description: "Key of the note, such as people/ann.md." })
const expectedVersion = Schema.optionalKey(
  ExpectedVersion.annotate({
    description: "Write only while the note is at this version, as get or list told; none: only where there is no note."
  })
)
/** Not signed: a model can only ask for what the list holds anyway. */
const cursor = Schema.optionalKey(
  Schema.String.check(Schema.isMaxLength(limits.cursorChars)).annotate({
    description: "nextCursor of the page before, for what comes after it."
  })
)
const limit = (whenAbsent: number) =>
  Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most })).annotate({
      description: `How many to list; ${whenAbsent} when left out.`
    })
  )

const ListInput = Schema.Struct({
  store,
  prefix: Schema.optionalKey(MemoryPrefix.annotate({ description: "What the keys begin with, such as people/." })),
  limit: limit(usual),
  cursor
})
const GetInput = Schema.Struct({ store, key })
const SearchInput = Schema.Struct({
  store,
  q: MemoryQuery.annotate({ description: "Words that are in the key or the note; - before what is not to be there." }),
  limit: limit(limits.memorySearch.usual)
})
const PutInput = Schema.Struct({
  store,
  key,
  value: MemoryValue.annotate({ description: `The whole note, at most ${limits.memoryValueBytes} bytes.` }),
  expectedVersion
})
const DeleteInput = Schema.Struct({ store, key, expectedVersion })

type Where = { readonly store?: StoreName }

const refusal = ({
  currentVersion,
  error,
  message
}: {
  readonly error: string
  readonly message: string
  readonly currentVersion?: string
}) => toolError(`${error}: ${message}${currentVersion === undefined ? "" : `; it is at ${currentVersion} now`}.`)

const refusalOf = (written: Written) => ("refused" in written ? refusal(putRefusal(written)) : undefined)

const denied = (name: StoreName) =>
  refusal({ error: "permission_denied", message: `the profile does not let this be done in the store ${name}` })
const noEntry = refusal({ error: "not_found", message: "there is no entry with this key" })

const authorOf = ({ agentId, identity, threadId, turnId }: BuiltInBy): Author => ({
  principal: { type: "agent", id: agentId, ...(identity === undefined ? {} : { identity }) },
  ...(turnId === undefined ? {} : { from: { threadId, turnId } })
})

/** What the store is, for the rows. */
const storeOf = ({ agentId }: BuiltInBy, { store }: Where): Store => (store === "workspace" ? {} : { agentId })

const readingTools = ({ database }: MemoryStores) => [
  builtIn({
    name: "memory.list",
    description: "Lists notes by their keys: key, size, version and when it was last written, not what it says.",
    input: ListInput,
    readOnly: true,
    run: guarded("list", (by, { cursor = "", limit = usual, prefix = "", ...where }) =>
      Effect.map(
        database.run("memory.list", (db) =>
          listEntries(db, by.workspace, storeOf(by, where), {
            after: Buffer.from(cursor, "base64url").toString().replaceAll("\0", ""),
            limit: limit + 1,
            prefix
          })
        ),
        (found) => {
          const entries = found.slice(0, limit)
          const last = found.length > limit ? entries.at(-1) : undefined
          return {
            output: { entries, ...(last && { nextCursor: Buffer.from(last.key).toString("base64url") }) }
          }
        }
      )
    )
  }),
  builtIn({
    name: "memory.get",
    description: "Reads one note by its key: what it says, its version, who wrote it last and when.",
    input: GetInput,
    readOnly: true,
    run: guarded("get", (by, { key, ...where }) =>
      Effect.map(readEntry(database, by.workspace, storeOf(by, where), key), (entry) =>
        entry === undefined ? noEntry : { output: { entry } }
      )
    )
  }),
  builtIn({
    name: "memory.search",
    description: "Finds notes by words in their keys and texts, the best first: key, a snippet, version.",
    input: SearchInput,
    readOnly: true,
    run: guarded("search", (by, { limit = limits.memorySearch.usual, q, ...where }) =>
      Effect.map(
        database.run("memory.search", (db) => searchEntries(db, by.workspace, storeOf(by, where), { limit, q })),
        (entries) => ({ output: { entries } })
      )
    )
  })
]

/** M1. */
const guarded =
  <Input extends Where, E>(
    verb: string,
    run: (by: BuiltInBy, input: Input, toolCallId: string) => Effect.Effect<BuiltInOutcome, E>
  ) =>
  (by: BuiltInBy, input: Input, toolCallId: string): Effect.Effect<BuiltInOutcome, E> => {
    const { store: name = "agent" } = input
    return mayInStore(by.memory, name, verb) ? run(by, input, toolCallId) : Effect.succeed(denied(name))
  }

const writingTools = ({ approval, database, now }: MemoryStores) => {
  const withdrawing = withdrawable(database)

  /** What would become of it: it is written, and withdrawn. */
  const tried = (by: BuiltInBy, request: Write) =>
    withdrawing<never, Written>("memory.write (tried)", async (tx) =>
      Result.fail(await write(tx, by.workspace, request, authorOf(by), now()))
    ).pipe(Effect.catch((found) => ("_tag" in found ? Effect.fail(found) : Effect.succeed(refusalOf(found)))))

  /** Nothing hopeless parks. */
  const written = Effect.fnUntraced(function* (
    by: BuiltInBy,
    action: "memory.put" | "memory.delete",
    request: Write,
    toolCallId: string,
    outputOf: (written: Written) => unknown
  ) {
    const about = request.agentId === undefined ? {} : { agentId: request.agentId }
    const parked = yield* approval(by, { action, ...about, request, toolCallId }, tried(by, request))
    if (parked !== undefined) return parked
    // M2.
    const versioned = { ...request, version: begunBy("memoryVersion", toolCallId) }
    const done = yield* writeAlone(database, by.workspace, versioned, authorOf(by), now())
    return refusalOf(done) ?? { output: outputOf(done) }
  })

  return [
    builtIn({
      name: "memory.put",
      description:
        "Writes a note, or replaces the whole of one. Give the version that you have read as expectedVersion, so " +
        "that nobody's change in between is lost; memory_conflict says that there was one: read it again.",
      input: PutInput,
      readOnly: false,
      idempotent: true,
      run: guarded("put", (by, { store, ...input }, toolCallId) => {
        if (isTooLong(input.value)) return Effect.succeed(refusal(tooLong))
        const request = { ...storeOf(by, { ...(store && { store }) }), ...input }
        return written(by, "memory.put", request, toolCallId, (done) => {
          const version = "entry" in done ? done.entry.version : "version" in done ? done.version : undefined
          return { entry: { key: input.key, size: utf8Bytes(input.value), ...(version && { version }) } }
        })
      })
    }),
    builtIn({
      name: "memory.delete",
      description: "Deletes a note. Without expectedVersion it succeeds where there is none as well.",
      input: DeleteInput,
      readOnly: false,
      idempotent: true,
      run: guarded("delete", (by, { store, ...input }, toolCallId) => {
        const request = { ...storeOf(by, { ...(store && { store }) }), ...input }
        return written(by, "memory.delete", request, toolCallId, (done) => ({
          deleted: !("done" in done && done.done === "nothing")
        }))
      })
    })
  ]
}

export const memoryFamily = (stores: MemoryStores): Family => ({
  name: "memory",
  description:
    "Notes that outlive this conversation: remember what was learned, look up what was noted before, alone or " +
    "shared with the other agents of the workspace.",
  tools: [...readingTools(stores), ...writingTools(stores)]
})
