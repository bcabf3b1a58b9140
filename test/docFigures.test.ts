/** Figures and names that the documents give: each as the code has it, so that neither changes without the other. */
import { assert, describe, it } from "@effect/vitest"
import { paceDefaults } from "../http/Peers.ts"
import { roomDefaults } from "../http/Room.ts"
import { capacity } from "../http/streams/Outbox.ts"
import { streamDefaults } from "../http/streams/Streams.ts"
import { windowMs } from "../src/bus/signature.ts"
import { half, mostCalls } from "../src/domain/turnNumbers.ts"
import { nearMs } from "../src/journal/agenda.ts"
import { shardCount } from "../src/journal/shard.ts"
import { usualPools } from "../src/outbound/pools.ts"
import { usualLimits } from "../src/quotas/quota.ts"
import { schemaLimits } from "../src/tools/Schemas.ts"
import { onOneLine, said, textOf } from "./repository.ts"

const MiB = 1024 * 1024

/** What a document says, made from the figure that the code exports. */
const imported: ReadonlyArray<readonly [document: string, says: string]> = [
  ["docs/architecture.md", `more than ${nearMs === 60_000 ? "a minute" : `${nearMs} ms`} ahead`],
  ["docs/architecture.md", `one of ${said(shardCount)}`],
  ["docs/architecture.md", `${half} + step`],
  ["docs/architecture.md", `More than ${mostCalls} calls`],
  ["docs/api.md", `A response of more than ${mostCalls} calls`],
  ["docs/architecture.md", `takes nothing for ${streamDefaults.stallMs / 1_000} s`],
  [
    "docs/api.md",
    `may have ${said(streamDefaults.perKey)} streams on a node. A stream has a ping every ${streamDefaults.pingMs / 1_000} s`
  ],
  ["docs/operations.md", `what waits for all watchers of streams | ${streamDefaults.waitingBytes / MiB} MiB`],
  ["docs/architecture.md", `buffer of ${capacity / MiB} MiB`],
  [
    "docs/architecture.md",
    `at most ${usualPools.origins} hosts and ${said(usualPools.connections)} connections, ${usualPools.connectionsPerOrigin} with one host`
  ],
  ["docs/architecture.md", `nobody uses are closed after ${usualPools.keepAliveMs / 1_000} s`],
  ["docs/operations.md", `hosts (scheme, host and port) with connections | ${usualPools.origins}`],
  ["docs/operations.md", `workspaces that keep unused connections, by node | ${usualPools.workspaces}`],
  ["docs/operations.md", `| connections | ${said(paceDefaults.connections)} |`],
  ["docs/operations.md", `an answer that the client does not read | ${paceDefaults.answerMs / 60_000} min`],
  ["docs/operations.md", `a connection without a request | ${paceDefaults.idleMs / 1_000} s`],
  ["docs/operations.md", `a body that does not come | ${paceDefaults.silenceMs / 1_000} s`],
  [
    "docs/operations.md",
    `the least pace of a body | ${paceDefaults.windowBytes / 1024} KiB in ${paceDefaults.windowMs / 1_000} s`
  ],
  ["docs/operations.md", `${roomDefaults.answersPerKey} at once, ${roomDefaults.shareBytes / MiB} MiB together`],
  ["docs/operations.md", `${roomDefaults.bodiesPerKey} at once, ${roomDefaults.shareBytes / MiB} MiB together`],
  ["docs/operations.md", `bodies of all on their way | ${roomDefaults.bodyBytes / MiB} MiB`],
  ["docs/operations.md", `${roomDefaults.answerBytes / MiB} MiB in answers that nobody reads`],
  ["docs/operations.md", `${schemaLimits.checkMs} ms of processor time, ${schemaLimits.wallMs / 1_000} s by the clock`],
  [
    "docs/operations.md",
    `${schemaLimits.budget.ms} ms of processor time in ${schemaLimits.budget.windowMs / 1_000} s, one under way`
  ],
  ["docs/operations.md", `stands in line; after ${schemaLimits.lineMs / 1_000} s it fails`],
  ...(["agents", "connections", "keys", "roles", "threads", "toolsets"] as const).map(
    (name) => ["docs/operations.md", `| ${said(usualLimits[name])} |`] as const
  ),
  ["docs/operations.md", `\`stored_bytes\` within 24 hours | ${usualLimits.stored_bytes / 1024 ** 3} GiB`],
  ["docs/operations.md", `A message is taken for ${windowMs / 1_000} s`]
]

/** A figure as a document gives it, and the text of a source that nothing exports. */
const figures: ReadonlyArray<readonly [document: string, says: string, source: string, as: string]> = [
  ["docs/architecture.md", "Three without a new fact", "actors/layer.ts", "takeoverLimit = 3"],
  ["docs/architecture.md", "up to 200 actors", "actors/Sweep.ts", "claimed = 200"],
  ["docs/architecture.md", "resumes 50 at once", "actors/Sweep.ts", "atOnce = 50"],
  ["docs/architecture.md", "ten times a second", "actors/Sweep.ts", 'Schedule.spaced("100 millis")'],
  ["docs/architecture.md", "at most 128.", "src/journal/appends.ts", "maxBatch = 128"],
  ["docs/architecture.md", "8 Mi characters", "src/journal/appends.ts", "maxCharacters = 8 * 1024 * 1024"],
  ["docs/architecture.md", "in pages of 4 MiB", "src/journal/loads.ts", "shared: { facts: 4_000, bytes: 4 * MiB }"],
  ["docs/architecture.md", "50 actors at once", "actors/activation.ts", "servedAtOnce = 50"],
  ["docs/architecture.md", "from 0.25 s to 2 s", "actors/obligations.ts", "unansweredMs = { first: 250, most: 2_000 }"],
  ["docs/architecture.md", "from 1 s to 5 min", "actors/Crashes.ts", "mostMs = 300_000"],
  ["docs/architecture.md", "fails twice too", "actors/activation.ts", "farewells = 2"],
  ["docs/architecture.md", "up to 64 in their order", "actors/inboxDrain.ts", "rows: 64"],
  ["docs/api.md", "about 14,900 events (2,500", "test/machines/turnEvents.test.ts", "[true, 2_484], [false, 14_948]"],
  ["docs/architecture.md", "tried three times a target", "machines/thread/turn.ts", "attempts = 3"],
  ["docs/architecture.md", "about 0.5 s and 1 s", "machines/thread/turn.ts", "firstPauseMs = 500"],
  ["docs/architecture.md", "up to 60 s", "machines/thread/turn.ts", "60_000"],
  ["docs/architecture.md", "Past 0.8 of the TTL", "src/journal/leaseKeeper.ts", "0.8 * ttl"],
  [
    "docs/architecture.md",
    "every second or a fifth of the TTL",
    "src/journal/leaseKeeper.ts",
    "Math.min(1_000, ttl / 5)"
  ],
  ["docs/architecture.md", "the TTL is 5 s", "docs/configuration.md", "`TROUPE_LEASE_TTL_MS` | 5000 |"],
  ["docs/architecture.md", "Statements end after 5 s", "src/database/Database.ts", "statement_timeout: 5_000"],
  ["docs/architecture.md", "waits for a lock after 2 s", "src/database/Database.ts", "lock_timeout: 2_000"],
  ["docs/models.md", "silence of 120 s", "src/models/layer.ts", "idleTimeoutMs = 120_000"],
  ["docs/api.md", "at most five seconds old", "src/agents/Spending.ts", "freshMs = 5000"],
  ["docs/operations.md", "at most 20 a second", "src/telemetry/requests.ts", "perSecond = 20"],
  ["docs/operations.md", "more than 512 MiB", "src/journal/loads.ts", "most: 512 * MiB"],
  ["docs/operations.md", "conversations of threads, 16 MiB", "actors/layer.ts", "promptBytes = 16 * 1024 * 1024"],
  ["docs/operations.md", "hold 512 MiB of conversations", "actors/layer.ts", "underWayBytes = 512 * 1024 * 1024"],
  ["docs/operations.md", "8 million characters", "actors/layer.ts", "tailCharacters = 8_000_000"],
  ["docs/operations.md", "two for whole logs, three for all else", "src/database/Database.ts", "options.logs ?? 2"],
  ["docs/architecture.md", "at most 16 KiB", "src/outbound/pools.ts", "maxHeaderSize: 16 * 1024"],
  ["docs/operations.md", "answer before them | 100 a connection", "http/Peer.ts", "mostInRow = 100"],
  ["docs/operations.md", "commands in a mailbox, by thread | 256", "actors/Host.ts", "mailboxCapacity = 256"],
  ["docs/operations.md", "actors of a kind in memory, by node | 10,000", "actors/layer.ts", "mostActors = 10_000"],
  ["docs/operations.md", "sessions with MCP servers | 256", "src/tools/mcp/Sessions.ts", "Sessions.layerOf(256)"],
  ["docs/operations.md", "looks at | 5,000", "src/hooks/decisions.ts", "looked = 5_000"],
  [
    "docs/operations.md",
    "calls of one response | 10 s together",
    "actors/thread/tools/toolbox.ts",
    "patienceMs = 10_000"
  ],
  [
    "docs/operations.md",
    "states of all patterns of a schema | 10,000",
    "src/tools/jsonSchema.ts",
    "mostStates = 10_000"
  ],
  ["docs/operations.md", "With Node 22.19 or later", "src/cli/lacking.mjs", "minor >= 19"],
  ["docs/operations.md", "Version 18 is what is tested, 15 or later should do", "src/cli/doctor.ts", ">= 15"],
  [
    "docs/architecture.md",
    "Each run draws a fifth of the plain crashes, and a fifteenth of the others",
    "test/actors/crashes.ts",
    "TROUPE_CRASH_STRIDE ?? 15"
  ],
  ["docs/architecture.md", "draws a fifteenth of the points", "test/actors/crashes.ts", "TROUPE_CRASH_STRIDE ?? 15"],
  ["docs/CONTRIBUTING.md", "not one in twenty-four", "test/setup/consolePage.ts", "TROUPE_AXE_STRIDE ?? 24"],
  ["docs/CONTRIBUTING.md", "not one in eight", "test/browser/docs.test.ts", "TROUPE_DOCS_STRIDE ?? 8"],
  ["docs/CONTRIBUTING.md", "`machines/thread/turn.ts`, `joins`", "machines/thread/turn.ts", "export const joins"],
  [
    "docs/CONTRIBUTING.md",
    "`src/journal/Journal.ts`, J1 and J5",
    "src/journal/Journal.ts",
    "J5. A claim raises the epoch"
  ],
  ["docs/CONTRIBUTING.md", "`http/waits/resolving.ts`, the one way", "http/waits/resolving.ts", "threads.resolve("],
  [
    "docs/CONTRIBUTING.md",
    "`machines/thread/judging.ts` says",
    "machines/thread/judging.ts",
    "export const answerTurn"
  ],
  ["docs/CONTRIBUTING.md", "which asks `src/tools/Schemas.ts`", "actors/thread/tools/judging.ts", "schemas.misfit("],
  ["docs/CONTRIBUTING.md", "(`defineKind`)", "actors/Kind.ts", "export const defineKind"],
  ["docs/CONTRIBUTING.md", "`actors/layer.ts` puts it", "actors/layer.ts", "Identity.layer(options)"],
  ["docs/CONTRIBUTING.md", "`machines/charts.ts` shows", "machines/charts.ts", "Record<ChartKind, AnyStateMachine>"],
  ["docs/CONTRIBUTING.md", "in `src/domain/chartKinds.ts`", "src/domain/chartKinds.ts", "export const chartKinds"],
  ["docs/CONTRIBUTING.md", "`src/journal/appendStatement.ts` is", "src/journal/appendStatement.ts", "J1"]
]

describe("the documents", () => {
  it.each(imported)("%s says %j", (document, says) => {
    assert.include(onOneLine(textOf(document)), says)
  })

  it.each(figures)("%s says %j, as %s does", (document, says, source, as) => {
    assert.include(onOneLine(textOf(document)), says)
    assert.include(onOneLine(textOf(source)), as, "the document must change with it")
  })
})
