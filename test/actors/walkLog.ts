/** The log of a thread that a walk has made, as the journal gives it. */
import { factRow } from "../../actors/thread/replies/rows.ts"
import type { Log, StoredFact } from "../../src/journal/Journal.ts"
import { logOf } from "../../src/journal/wholeLog.ts"
import type { Walk } from "../machines/Walk.ts"

const stored = (walk: Walk): ReadonlyArray<StoredFact> => {
  let seq = 0
  return walk.log.map((fact, i) => {
    const row = factRow(fact)
    return { ...row, pos: i + 1, seq: row.public ? ++seq : null }
  })
}

/** Facts of these types behind a place. */
export const logOfWalk = (walk: Walk, after: number, types: ReadonlyArray<string>): Log =>
  logOf(stored(walk).filter(({ pos, type }) => pos > after && types.includes(type)))
