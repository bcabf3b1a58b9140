/**
 * What must hold of a thread's journal, whoever wrote it and whatever crashed meanwhile: asked of the machine's facts
 * and of stored ones alike.
 *
 * I1. pos and seq are gapless; time and epoch never fall along pos.
 * I2. A turn is one unbroken run of facts: its first input first, one terminal fact last.
 * I3. Event numbers are unique within a turn.
 * I4. Every intent of a turn that ended has one result, after it; every wait one resolution, before that result.
 * I5. An input is admitted once at most. Every accepted one is admitted, pending or removed, and only one of these.
 * I6. Inputs of mode queue are admitted in the order in which they were accepted.
 * I7. A response replies to the newest message that it could have seen.
 * I8. An input opens the turn of its own body, or joins the turn that it was sent to; no other.
 * I9. A hook judges an open call that waits for nobody; an ask is followed by its wait. What it was asked is decided
 *     once.
 * I10. A round of compaction that began is over, once, before anything else of the turn; it reaches no further than the
 *      log did.
 * I11. It reaches to the end of a turn, or behind a response in one, all of whose calls have their results.
 */
export interface Recorded {
  readonly pos: number
  readonly seq: number | null
  readonly type: string
  readonly turn: string | null
  readonly n: number
  readonly public: boolean
  readonly at: number
  readonly epoch?: number
  /** The event's own fields. */
  readonly event: Readonly<Record<string, unknown>>
}

const terminals: ReadonlySet<string> = new Set(["turn_completed", "turn_failed", "turn_cancelled"])
export const isTerminal = ({ type }: Recorded) => terminals.has(type)

/** A stored fact, with its event parsed. */
export const recorded = (fact: Omit<Recorded, "event"> & { readonly event: string }): Recorded => {
  const event: unknown = JSON.parse(fact.event)
  if (typeof event !== "object" || event === null) throw new Error(`the event at ${fact.pos} is no object`)
  return { ...fact, event: { ...event } }
}

const numbering = (log: ReadonlyArray<Recorded>) => {
  const broken: Array<string> = []
  let seq = 0
  for (const [i, fact] of log.entries()) {
    const before = log[i - 1]
    if (fact.pos !== i + 1) broken.push(`I1: pos ${fact.pos} at place ${i + 1}`)
    if (fact.public ? fact.seq !== ++seq : fact.seq !== null) broken.push(`I1: seq ${fact.seq} at pos ${fact.pos}`)
    if (before === undefined) continue
    if (fact.at < before.at) broken.push(`I1: time falls at pos ${fact.pos}`)
    if ((fact.epoch ?? 0) < (before.epoch ?? 0)) broken.push(`I1: epoch falls at pos ${fact.pos}`)
  }
  return broken
}

const deliveryOf = ({ hook }: { readonly hook?: { readonly deliveryId?: string } }) => String(hook?.deliveryId)

/** What happens to a thread, and to none of its turns. */
const ofNoTurn: ReadonlySet<string> = new Set(["compaction_wanted", "archived"])

const throughOf = ({ compaction }: { readonly compaction?: unknown }) =>
  typeof compaction === "object" && compaction !== null && "throughSeq" in compaction
    ? Number(compaction.throughSeq)
    : -1

const ofOneTurn = (turn: string, facts: ReadonlyArray<Recorded>) => {
  const broken: Array<string> = []
  const say = (text: string) => broken.push(`${text} (turn ${turn})`)
  const ended = facts.findIndex(isTerminal)
  if (facts[0]?.type !== "user_message") say(`I2: begins with ${facts[0]?.type}`)
  if (ended !== -1 && ended !== facts.length - 1) say(`I2: ${facts[ended + 1]?.type} after ${facts[ended]?.type}`)
  if (new Set(facts.map(({ n }) => n)).size !== facts.length) say("I3: two events of one number")

  const calls = new Map<string, "open" | "done">()
  /** Open waits: of a call, or of the turn itself. */
  const waits = new Map<string, string>()
  const asked = new Set<string>()
  const decided = new Set<string>()
  const waitsFor = (call: string) => [...waits.values()].includes(call)
  let newest: number | null = null
  let round: unknown
  for (const [i, { event, seq, type }] of facts.entries()) {
    const call = String(event.toolCallId)
    const wait = String(event.waitId)
    if (round !== undefined && type !== "compacted") say(`I10: ${type} in an open round`)
    switch (type) {
      case "compacting":
        round = event.compaction
        if (throughOf(event) >= (seq ?? 0)) say(`I10: a round through ${throughOf(event)} at ${seq}`)
        break
      case "compacted":
        if (round === undefined || throughOf(event) !== throughOf({ compaction: round }))
          say(`I10: the end of a round that is not open`)
        round = undefined
        break
      case "user_message":
        newest = seq
        break
      case "assistant_message":
        if (event.inReplyToSeq !== newest) say(`I7: replies to ${String(event.inReplyToSeq)}, not ${newest}`)
        break
      case "tool_intent":
        if (calls.has(call)) say(`I4: two intents of ${call}`)
        calls.set(call, "open")
        break
      case "hook_decision":
        if (event.toolCallId !== undefined && calls.get(call) !== "open")
          say(`I9: a decision about ${call}, which is ${calls.get(call)}`)
        if (waitsFor(call)) say(`I9: a decision about ${call}, which waits`)
        if (decided.has(deliveryOf(event))) say(`I9: two decisions of ${deliveryOf(event)}`)
        decided.add(deliveryOf(event))
        if (event.waitId !== undefined && facts[i + 1]?.event.waitId !== wait)
          say(`I9: an ask without its wait ${wait}`)
        break
      case "wait_created":
        if (event.toolCallId !== undefined && calls.get(call) !== "open")
          say(`I4: a wait for ${call}, which is ${calls.get(call)}`)
        if (waitsFor(call)) say(`I4: two waits for ${call}`)
        if (asked.has(wait)) say(`I4: two waits ${wait}`)
        waits.set(wait, call)
        asked.add(wait)
        break
      case "wait_resolved":
        if (waits.get(wait) !== call) say(`I4: a resolution of ${wait}, which is not open`)
        waits.delete(wait)
        break
      case "tool_result":
        if (calls.get(call) !== "open" || waitsFor(call))
          say(`I4: a result for ${call}, which is ${waitsFor(call) ? "waiting" : calls.get(call)}`)
        calls.set(call, "done")
    }
  }
  if (ended !== -1) {
    for (const [call, state] of calls) if (state !== "done") say(`I4: ended while ${call} is ${state}`)
    for (const wait of waits.keys()) say(`I4: ended while ${wait} is open`)
    if (round !== undefined) say("I10: ended while a round is open")
  }
  return broken
}

/** I11. */
const unevenRounds = (log: ReadonlyArray<Recorded>) => {
  const bySeq = new Map(log.map((fact, i) => [fact.seq, i]))
  return log.flatMap(({ event, type }) => {
    if (type !== "compacting") return []
    const through = throughOf(event)
    const at = bySeq.get(through)
    const last = at === undefined ? undefined : log[at]
    if (at === undefined || last === undefined) return [`I11: a round through ${through}, where nothing is`]
    if (isTerminal(last)) return []
    const before = log.slice(0, at + 1).filter(({ turn }) => turn === last.turn)
    const count = (wanted: string) => before.filter(({ type }) => type === wanted).length
    const responses = count("assistant_message") + count("tool_intent")
    if (responses === 0) return [`I11: a round through ${through} ends before the first response of its turn`]
    return count("tool_intent") === count("tool_result")
      ? []
      : [`I11: a round through ${through} parts calls from their results`]
  })
}

/**
 * What is broken in one thread's whole journal; empty when all is well. A walk over the machine alone makes up where
 * rounds reach to: the machine is told, and does not judge it (I11).
 */
export const violations = (
  log: ReadonlyArray<Recorded>,
  { roundsAreFound = true }: { readonly roundsAreFound?: boolean } = {}
): ReadonlyArray<string> => {
  const broken = [...numbering(log), ...(roundsAreFound ? unevenRounds(log) : [])]
  const runs: Array<{ readonly turn: string; readonly facts: Array<Recorded> }> = []
  const admitted = new Set<unknown>()
  for (const fact of log) {
    if (fact.turn === null) {
      if (fact.public || !ofNoTurn.has(fact.type)) broken.push(`I2: ${fact.type} at pos ${fact.pos} belongs to no turn`)
      continue
    }
    const run = runs.at(-1)
    if (run?.turn === fact.turn) run.facts.push(fact)
    else runs.push({ turn: fact.turn, facts: [fact] })
    if (fact.type !== "user_message") continue
    if (admitted.has(fact.event.inputId)) broken.push(`I5: ${String(fact.event.inputId)} is admitted twice`)
    admitted.add(fact.event.inputId)
  }
  const seen = new Set<string>()
  for (const [i, { facts, turn }] of runs.entries()) {
    if (seen.has(turn)) broken.push(`I2: turn ${turn} goes on after another began`)
    seen.add(turn)
    if (i < runs.length - 1 && !facts.some(isTerminal))
      broken.push(`I2: turn ${turn} has not ended when the next begins`)
    broken.push(...ofOneTurn(turn, facts))
  }
  return broken
}

/** Turns that have begun and not ended: one at most, and none at rest. */
export const openTurns = (log: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const open = new Set<string>()
  for (const fact of log) {
    if (fact.turn === null) continue
    if (isTerminal(fact)) open.delete(fact.turn)
    else open.add(fact.turn)
  }
  return [...open]
}

export interface Ledger {
  /** Inputs that were acknowledged, in that order. */
  readonly accepted: ReadonlyArray<{ readonly inputId: string; readonly mode: string }>
  /** Inputs whose removal (or cancel with clearQueue) was acknowledged. */
  readonly removed: ReadonlySet<string>
  readonly pending: ReadonlyArray<string>
  /** Inputs without a place in the order: promoted, or sent while others were on their way. */
  readonly unordered: ReadonlySet<string>
  /** The turn that each steer was sent to. */
  readonly joins: ReadonlyMap<string, string>
}

/** I5, I6 and I8: what clients were told, held against the journal and the queue. */
export const unaccounted = (
  log: ReadonlyArray<Recorded>,
  { accepted, joins, pending, removed, unordered }: Ledger
): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const admissions = log.filter(({ type }) => type === "user_message").map(({ event }) => String(event.inputId))
  const admitted = new Set(admissions)
  for (const { inputId } of accepted) {
    const places = [admitted.has(inputId), pending.includes(inputId), removed.has(inputId)].filter(
      (here) => here
    ).length
    if (places !== 1) broken.push(`I5: ${inputId} stands in ${places} places`)
  }
  const known = new Set(accepted.map(({ inputId }) => inputId))
  for (const inputId of [...admissions, ...pending])
    if (!known.has(inputId)) broken.push(`I5: ${inputId} was never accepted`)

  for (const { event, turn, type } of log) {
    const inputId = String(event.inputId)
    if (type === "user_message" && turn?.slice(-26) !== inputId.slice(-26) && joins.get(inputId) !== turn) {
      broken.push(`I8: ${inputId} joins ${turn}, not ${joins.get(inputId)}`)
    }
  }

  const queued = accepted
    .filter(({ inputId, mode }) => mode === "queue" && !unordered.has(inputId))
    .map(({ inputId }) => inputId)
  const inOrder = queued.filter((inputId) => admitted.has(inputId))
  const asAdmitted = admissions.filter((inputId) => inOrder.includes(inputId))
  if (inOrder.join() !== asAdmitted.join()) broken.push(`I6: accepted ${inOrder.join()}, admitted ${asAdmitted.join()}`)
  const waiting = pending.filter((inputId) => queued.includes(inputId))
  const lastAdmitted = Math.max(-1, ...asAdmitted.map((inputId) => queued.indexOf(inputId)))
  if (waiting.some((inputId) => queued.indexOf(inputId) < lastAdmitted))
    broken.push("I6: an older input waits behind an admitted one")
  return broken
}
