/** What became of an input: the row of one that waits or was cancelled, the fact of one that was admitted. */
import { Effect } from "effect"
import { toUuid } from "../domain/ids.ts"
import { admissionOf } from "../domain/once.ts"
import type { Database } from "../database/Database.ts"
import type { ActorRef, InputRow, StoredInput } from "./Journal.ts"
import { type FactColumns, factColumns, storedFact } from "./storedFact.ts"

const text = `select i.state, i.ord, i.body, ${factColumns}
  from heads h left join inputs i on i.workspace = h.workspace and i.actor = h.id and i.id = $3
  left join facts f on f.once = $4 and f.actor = h.id
  where h.workspace = $1 and h.id = $2 and h.kind = $5`

interface NoInput {
  readonly state: null
}
interface NoFact {
  readonly pos: null
}
type Row = (Omit<InputRow, "id"> | NoInput) & (FactColumns | NoFact)

const toInput = (inputId: string, row: Row): StoredInput | undefined => {
  if (row.pos !== null) {
    const fact = storedFact(row)
    if (fact.seq !== null) return { state: "admitted", fact: { ...fact, seq: fact.seq } }
  }
  return row.state === null
    ? undefined
    : { state: row.state, row: { id: inputId, ord: row.ord, state: row.state, body: row.body } }
}

export const storedInput = (
  database: Pick<Database["Service"], "read">,
  { id, kind, workspace }: ActorRef,
  inputId: string
) =>
  database
    .read<Row>({
      name: "input",
      text,
      values: [toUuid(workspace), toUuid(id), toUuid(inputId), toUuid(admissionOf(inputId)), kind]
    })
    .pipe(Effect.map(([row]) => row && toInput(inputId, row)))
