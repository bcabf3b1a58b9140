/**
 * Every metric of the server, by name, in Prometheus' own units: seconds, bytes, totals. An update
 * costs some 40 ns; labels are few and bounded, and never hold text from a client.
 *
 * Use: `record(turnsEnded.with({ outcome: "completed" }), 1)`.
 */
import { Context, Metric } from "effect"

const none = Context.empty()

/** Adds to a counter, sets a gauge, observes in a histogram. */
export const record = (metric: Metric.Metric<number, unknown>, value = 1) => metric.updateUnsafe(value, none)

/** Adds to a gauge. */
export const adjust = (metric: Metric.Metric<number, unknown>, by: number) => metric.modifyUnsafe(by, none)

/** A metric per combination of labels, made once and then found by one lookup. */
const labelled = <Label extends string, State>(metric: Metric.Metric<number, State>, ...labels: ReadonlyArray<Label>) => {
  const made = new Map<string, Metric.Metric<number, State>>()
  return {
    with: (values: Readonly<Record<Label, string>>) => {
      let key = ""
      for (const label of labels) key += `${values[label]}\n`
      const known = made.get(key)
      if (known !== undefined) return known
      const fresh = Metric.withAttributes(metric, values)
      made.set(key, fresh)
      return fresh
    }
  }
}

const total = (name: string, description: string) => Metric.counter(`troupe_${name}_total`, { description, incremental: true })
const gauge = (name: string, description: string) => Metric.gauge(`troupe_${name}`, { description })
const seconds = (name: string, description: string) =>
  Metric.histogram(`troupe_${name}_seconds`, {
    description,
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  })

const counts = (name: string, description: string) =>
  Metric.histogram(`troupe_${name}`, { description, boundaries: [1, 2, 4, 8, 16, 32, 64, 128] })

// The interface
export const httpRequests = labelled(total("http_requests", "requests answered"), "method", "route", "status")
export const httpDuration = labelled(seconds("http_request_duration", "from request to end of answer, streams left out"), "method", "route")
export const streamsOpen = gauge("streams_open", "event streams connected to this node")
export const streamGaps = total("stream_gaps", "times that a slow reader was told of a gap")
export const streamsDropped = total("streams_dropped", "streams closed because their reader had stalled")

// Actors
export const actorsLive = gauge("actors_live", "actors in this node's memory")
export const jobsRunning = gauge("jobs_running", "model and tool calls under way")
export const sweepAge = gauge("sweep_age_seconds", "time since the last sweep that went well")
export const actorClaims = labelled(total("actor_claims", "actors taken over by this node"), "kind")
export const actorTakeovers = total("actor_takeovers", "actors taken over from nodes whose leases had lapsed")
export const forwarded = labelled(total("forwarded_commands", "commands for actors that are not here, by what became of them"), "outcome")
export const questionsRefused = labelled(total("questions_refused", "questions of other nodes that were not taken"), "why")
export const actorsLost = total("actors_lost", "actors found to be owned by another node")
export const commands = labelled(total("commands", "commands decided"), "kind")
export const turnsEnded = labelled(total("turns", "turns ended"), "outcome")
export const turnDuration = seconds("turn_duration", "from admission to end of turn")
export const turnsPoisoned = total("turns_poisoned", "turns given up after claims without progress")

// Models
export const samples = labelled(total("model_samples", "model calls ended"), "provider", "outcome")
export const sampleDuration = labelled(seconds("model_sample_duration", "one model call"), "provider")

// The journal and the database
export const appendsPerStatement = counts("journal_batch_appends", "appends a statement")
export const claimsPerStatement = counts("journal_batch_claims", "claims a statement")
export const appendsRefused = total("journal_appends_refused", "appends that found another owner")
export const batchesRepeated = total("journal_batches_repeated", "batches sent again")
export const appendsInconsistent = total("journal_appends_inconsistent", "appends refused by a unique index: each is a bug")
export const databaseStatements = labelled(gauge("database_statements", "statements sent since the start"), "connection")
export const databaseWaiting = gauge("database_waiting", "callers that wait for a connection")

// The bus
export const busState = labelled(gauge("bus_state", "1 for the state that the bus is in: in-process, connected, disconnected"), "state")
export const busReconnects = total("bus_reconnects", "connections to NATS that were made again")
export const busSent = labelled(total("bus_sent", "messages sent to other nodes"), "kind")
export const busReceived = labelled(total("bus_received", "messages from other nodes"), "kind")
export const busIgnored = labelled(total("bus_ignored", "messages that were not understood, and left alone"), "kind", "reason")
export const busLost = total("bus_lost", "messages that could not be sent: NATS was away or took nothing")
export const busRequests = labelled(total("bus_requests", "questions to other nodes, by what became of them"), "outcome")

// The process
export const eventLoopDelay = labelled(gauge("event_loop_delay_seconds", "over the last 10 s"), "quantile")
export const residentMemory = gauge("process_resident_memory_bytes", "memory of the process")
export const heapUsed = gauge("process_heap_used_bytes", "JavaScript heap in use")
export const cpuSeconds = gauge("process_cpu_seconds", "CPU time since the start, user and system")
export const startTime = gauge("process_start_time_seconds", "when the process started, since 1970")
