/**
 * Inputs that are acknowledged and have not reached their thread yet: rows of the inbox. To whoever reads
 * the queue they wait at its end.
 */
import { Option, Schema } from "effect"
import { MessageContent, SubmitMode } from "../domain/content.ts"
import { idOf } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import type { InputRow } from "../journal/Journal.ts"

/** As JSON in a row of a query over `heads h`; null where there are none, which is nearly always. */
export const postedColumn = `(select json_agg(json_build_object('command', x.command, 'at', (extract(epoch from
  x.created_at) * 1000)::float8) order by x.created_at, x.id)
  from inbox x where x.workspace = h.workspace and x.actor = h.id)`

export type PostedJson = ReadonlyArray<{ readonly command: string; readonly at: number }> | null

/** Behind every input that has arrived. */
const behind = 2_000_000_000

/** What `post` of actors/thread/layer.ts wrote; a row that another version wrote in another way is not shown. */
const read = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      input: Schema.Struct({
        inputId: idOf("input"),
        content: MessageContent,
        mode: SubmitMode,
        principal: Principal,
        model: Schema.optionalKey(Schema.String),
        queuedAt: Schema.optionalKey(Schema.Int)
      })
    })
  )
)

/** The rows as they will be, once they arrive. */
export const postedInputs = (posted: PostedJson): ReadonlyArray<InputRow> =>
  (posted ?? []).flatMap(({ at, command }, i) =>
    Option.match(read(command), {
      onNone: () => [],
      onSome: ({ input: { inputId, ...rest } }) => [
        {
          id: inputId,
          ord: behind + i,
          state: "pending" as const,
          body: JSON.stringify({ queuedAt: Math.floor(at), ...rest })
        }
      ]
    })
  )
