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

type Attributes = Readonly<Record<string, string>>

/** A branch has a branch or a metric for each value of the next label. */
type Branch<State> = Map<string, Branch<State> | Metric.Metric<number, State>>

/** A metric per combination of labels, made once, then found label by label: a key of all would be a new text. */
const labelled = <Label extends string, State>(
  make: (attributes: Attributes) => Metric.Metric<number, State>,
  ...labels: ReadonlyArray<Label>
) => {
  const root: Branch<State> = new Map()
  return {
    with: (values: Readonly<Record<Label, string>>): Metric.Metric<number, State> => {
      let branch = root
      for (const label of labels) {
        let next = branch.get(values[label])
        if (next === undefined) {
          next = label === labels.at(-1) ? make(values) : new Map()
          branch.set(values[label], next)
        }
        if (!(next instanceof Map)) return next
        branch = next
      }
      throw new Error("a metric without labels")
    }
  }
}

const total = (name: string, description: string, attributes: Attributes = {}) =>
  Metric.counter(`troupe_${name}_total`, { description, attributes, incremental: true })
const gauge = (name: string, description: string, attributes: Attributes = {}) =>
  Metric.gauge(`troupe_${name}`, { description, attributes })
const seconds = (name: string, description: string, attributes: Attributes = {}) =>
  Metric.histogram(`troupe_${name}_seconds`, {
    description,
    attributes,
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  })

const counts = (name: string, description: string) =>
  Metric.histogram(`troupe_${name}`, { description, boundaries: [1, 2, 4, 8, 16, 32, 64, 128] })

// The interface
export const httpRequests = labelled(
  (attributes) => total("http_requests", "requests answered", attributes),
  "method",
  "route",
  "status"
)
export const httpDuration = labelled(
  (attributes) => seconds("http_request_duration", "from request to end of answer, streams left out", attributes),
  "method",
  "route"
)
export const quotaRefusals = labelled(
  (attributes) => total("quota_refusals", "requests refused because the workspace has used up a quota", attributes),
  "resource"
)
export const requestsRefused = labelled(
  (attributes) => total("requests_refused", "requests refused to keep the node for others, by which limit", attributes),
  "reason"
)
export const connectionsOpen = gauge("connections_open", "connections to the API's listener")
export const connectionsRefused = total("connections_refused", "connections closed at once since there were too many")
export const connectionsCut = labelled(
  (attributes) =>
    total(
      "connections_cut",
      "connections ended: their client did not read, sent too slowly, sent on without reading, or did nothing when " +
        "the listener was full",
      attributes
    ),
  "reason"
)
export const answersUnread = gauge("answers_unread_bytes", "answers that clients have not taken, when last looked at")
export const bodiesUnfinished = gauge(
  "bodies_unfinished_bytes",
  "bodies that are on their way, as far as they have come"
)
export const streamsOpen = gauge("streams_open", "event streams connected to this node")
export const pollsOpen = gauge("long_polls_open", "requests that wait for news on this node")
export const streamsWaiting = gauge("streams_waiting_bytes", "what waits to be read by watchers of streams")
export const streamGaps = total("stream_gaps", "times that a slow reader was told of a gap")
export const streamsDropped = total("streams_dropped", "streams closed because their reader had stalled")

// Actors
export const actorsLive = gauge("actors_live", "actors in this node's memory")
export const jobsRunning = gauge(
  "jobs_running",
  "calls of models, tools and hooks under way, with those that stand in line"
)
export const slotsUsed = labelled(
  (attributes) =>
    gauge("slots_used", "slots that running turns, and calls under way, have of their workspaces", attributes),
  "kind"
)
export const slotsWaiting = labelled(
  (attributes) => gauge("slots_waiting", "turns, and calls, that wait for a slot of their workspace", attributes),
  "kind"
)
export const turnsRefused = total(
  "turns_refused",
  "turns that were not begun because too many of their workspace stood in line"
)
export const mailboxesFull = labelled(
  (attributes) => total("mailbox_full", "commands refused because too many waited for their actor", attributes),
  "kind"
)
export const actorsEvicted = labelled(
  (attributes) =>
    total("actors_evicted", "actors at rest that left memory early, since there were too many", attributes),
  "kind"
)
export const sweepAge = gauge("sweep_age_seconds", "time since the last sweep that went well")
export const actorClaims = labelled(
  (attributes) => total("actor_claims", "actors taken over by this node", attributes),
  "kind"
)
export const actorTakeovers = total("actor_takeovers", "actors taken over from nodes whose leases had lapsed")
export const forwarded = labelled(
  (attributes) =>
    total("forwarded_commands", "commands for actors that are not here, by what became of them", attributes),
  "outcome"
)
export const questionsRefused = labelled(
  (attributes) => total("questions_refused", "questions of other nodes that were not taken", attributes),
  "why"
)
export const actorsQuarantined = total(
  "actors_quarantined",
  "actors set aside because they broke whatever was tried; a command wakes them"
)
export const actorsLost = total("actors_lost", "actors found to be owned by another node")
export const commands = labelled((attributes) => total("commands", "commands decided", attributes), "kind")
export const turnsEnded = labelled((attributes) => total("turns", "turns ended", attributes), "outcome")
export const turnDuration = seconds("turn_duration", "running time of a turn, without what it awaited")
export const turnsPoisoned = total("turns_poisoned", "turns given up after claims without progress")

// Webhooks
export const webhookAttempts = labelled(
  (attributes) => total("webhook_attempts", "attempts to deliver an event to a webhook, by outcome", attributes),
  "outcome"
)
export const webhooksPending = gauge("webhook_deliveries_pending", "deliveries of webhooks that wait, over all nodes")

// Schedules and subscriptions
export const scheduleLag = seconds(
  "schedule_lag",
  "from the moment of a scheduled run, its jitter included, to its beginning"
)
export const scheduleRuns = labelled(
  (attributes) => total("schedule_runs", "runs that have come to something: started, skipped, failed", attributes),
  "status"
)
export const evaluations = labelled(
  (attributes) =>
    total("subscription_evaluations", "batches that were escalated or dismissed, and attempts that failed", attributes),
  "outcome"
)
export const noticesPending = gauge(
  "subscription_notices_pending",
  "notices in the database that no subscription has taken, at most 10,000"
)

// Chores
export const choresDone = labelled(
  (attributes) => total("chores_done", "what chores of a node have found to do, by chore", attributes),
  "chore"
)
export const choreDuration = labelled(
  (attributes) => seconds("chore_duration", "duration of a chore's round", attributes),
  "chore"
)

// Schemas of tools
export const schemaChecks = labelled(
  (attributes) =>
    total("schema_checks", "checks of tools' schemas, by what became of them: judged, slow, busy, broken", attributes),
  "outcome"
)
export const schemaChecksWaiting = gauge(
  "schema_checks_waiting",
  "checks that wait for a thread, or for their workspace's budget"
)
export const schemaCpu = total(
  "schema_check_cpu_seconds",
  "processor time of checks of tools' schemas, and of starting the threads that were late"
)
export const schemaThreadsDied = total(
  "schema_threads_died",
  "threads that died over a check of a schema, and were replaced"
)

// Conditions of subscriptions
export const conditionChecks = labelled(
  (attributes) =>
    total(
      "condition_checks",
      "checks of costly conditions, by what became of them: judged, slow, busy, broken",
      attributes
    ),
  "outcome"
)
export const conditionChecksWaiting = gauge(
  "condition_checks_waiting",
  "checks of conditions that wait for a thread, or for their workspace's budget"
)
export const conditionThreadsDied = total(
  "condition_threads_died",
  "threads that died over a check of a condition, and were replaced"
)
export const conditionCpu = total(
  "condition_check_cpu_seconds",
  "processor time of checks of conditions, and of starting the threads that were late"
)

// Models
export const samples = labelled(
  (attributes) => total("model_samples", "model calls ended", attributes),
  "provider",
  "outcome"
)
export const sampleDuration = labelled(
  (attributes) => seconds("model_sample_duration", "one model call", attributes),
  "provider"
)

// Servers of others
export const outboundConnections = gauge(
  "outbound_connections",
  "connections to tool servers, hooks and whatever else workspaces name, open or being opened"
)
export const outboundRefused = labelled(
  (attributes) =>
    total(
      "outbound_refused",
      "requests of workspaces that had no room for another: of their origins, or of their connections",
      attributes
    ),
  "why"
)
export const sessionsGivenUp = total(
  "mcp_sessions_given_up",
  "sessions with tool servers given up for another of the same workspace"
)

// The journal and the database
export const leaseLapses = total(
  "lease_lapses",
  "times that this node's own lease lapsed: it paused, or PostgreSQL did"
)
export const appendsPerStatement = counts("journal_batch_appends", "appends a statement")
export const claimsPerStatement = counts("journal_batch_claims", "claims a statement")
export const appendsRefused = total("journal_appends_refused", "appends that found another owner")
export const batchesRepeated = total("journal_batches_repeated", "batches sent again")
export const appendsInconsistent = total(
  "journal_appends_inconsistent",
  "appends refused by a unique index: each is a bug"
)
export const databaseStatements = labelled(
  (attributes) => gauge("database_statements", "statements sent since the start", attributes),
  "connection"
)
export const databaseWaiting = gauge("database_waiting", "callers that wait for a connection")

// The bus
export const busState = labelled(
  (attributes) =>
    gauge("bus_state", "1 for the state that the bus is in: in-process, connected, disconnected", attributes),
  "state"
)
export const busReconnects = total("bus_reconnects", "connections to NATS that were made again")
export const busSent = labelled((attributes) => total("bus_sent", "messages sent to other nodes", attributes), "kind")
export const busReceived = labelled(
  (attributes) => total("bus_received", "messages from other nodes", attributes),
  "kind"
)
export const busIgnored = labelled(
  (attributes) => total("bus_ignored", "messages that were not understood or not trusted, and left alone", attributes),
  "kind",
  "reason"
)
export const busUnsigned = labelled(
  (attributes) =>
    total(
      "bus_unsigned",
      "messages without a signature that were taken, since a node of an earlier version was alive",
      attributes
    ),
  "kind"
)
export const busStrangers = gauge("bus_strangers", "live nodes with which this one shares no key for messages")
export const busLost = total("bus_lost", "messages that could not be sent: NATS was away or took nothing")
export const busRequests = labelled(
  (attributes) => total("bus_requests", "questions to other nodes, by what became of them", attributes),
  "outcome"
)

// The process
export const eventLoopDelay = labelled(
  (attributes) => gauge("event_loop_delay_seconds", "over the last 10 s", attributes),
  "quantile"
)
export const residentMemory = gauge("process_resident_memory_bytes", "memory of the process")
export const heapUsed = gauge("process_heap_used_bytes", "JavaScript heap in use")
export const cpuSeconds = gauge("process_cpu_seconds", "CPU time since the start, user and system")
export const startTime = gauge("process_start_time_seconds", "when the process started, since 1970")
