/**
 * Bugs that the checker must catch, each as an edit of a module's text while a test's node loads it. None of
 * it is in the product; an edit whose place has gone stops the node.
 */
import type { WorkloadOptions } from "./workload.ts"

export interface Edit {
  readonly file: string
  readonly find: string
  readonly put: string
}

export interface Plant {
  readonly name: string
  readonly edits: ReadonlyArray<Edit>
  /** Begins the name of the fault that shows it. */
  readonly fault: string
  /** More of what it harms than the fault's own load has. */
  readonly workload?: Partial<WorkloadOptions>
  /** What it breaks. */
  readonly caughtAs: RegExp
}

const claims = (put: string): Edit => ({
  file: "src/journal/claims.ts",
  find: "and (t.owner is null or t.owner = c.me\n      or not exists (select from nodes n where n.incarnation = t.owner and n.deadline > clock_timestamp()))",
  put
})

export const plants: ReadonlyArray<Plant> = [
  {
    name: "no epoch check",
    edits: [
      {
        file: "src/journal/appendSections.ts",
        find: "and t.epoch = h.epoch and t.rev = h.rev and t.owner = h.me",
        put: "and t.rev = h.rev"
      }
    ],
    fault: "what a node sends",
    caughtAs: /^A2/
  },
  {
    name: "no rev check",
    edits: [{ file: "src/journal/appendSections.ts", find: "and t.rev = h.rev and", put: "and" }],
    fault: "one statement of the journal",
    caughtAs: /^(A2|I[1-4]|J[1-3]|5xx)/
  },
  {
    name: "a lapsed lease is renewed",
    edits: [
      {
        file: "src/journal/PostgresLease.ts",
        find: "where incarnation = $1 and deadline > clock_timestamp()",
        put: "where incarnation = $1"
      }
    ],
    fault: "SIGSTOP 10 s",
    caughtAs: /^A4/
  },
  {
    name: "publish-only wake-up: no sweep",
    edits: [
      { file: "actors/rounds.ts", find: "if (!lease.fenced()) yield* safely(", put: "if (!isWhole) yield* safely(" }
    ],
    fault: "NATS killed",
    caughtAs: /^L1/
  },
  {
    name: "no dedupe of commands",
    edits: [
      {
        file: "actors/commits.ts",
        find: "item.key === undefined || answer === undefined ? undefined : [rowOf(item.key, answer)]",
        put: "undefined"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J2/
  },
  { name: "an actor is stolen from a live owner", edits: [claims("")], fault: "kill -9", caughtAs: /^A1/ },
  {
    name: "a timer is acted on by two nodes",
    edits: [
      claims(""),
      {
        file: "src/journal/agenda.ts",
        find: "select a.actors from agenda a where a.owner is null and a.at <= (select at from horizon)",
        put: "select a.actors from agenda a where a.at <= (select at from horizon)"
      },
      {
        file: "src/journal/agenda.ts",
        find: "and (h.owner is null or h.owner not in (select incarnation from living)) offset 0) h",
        put: "offset 0) h"
      }
    ],
    fault: "kill -9",
    caughtAs: /^(A1|J10|J12)/
  },
  {
    name: "a timer fires early",
    edits: [
      { file: "machines/thread/judging.ts", find: "wait.expiresAt <= at", put: "wait.expiresAt - 400 <= at" },
      {
        file: "actors/thread/replies/rows.ts",
        find: "wait.expiresAt))",
        put: "wait.expiresAt - 400))"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J10/
  },
  {
    name: "an event after the turn's end",
    edits: [
      {
        file: "actors/commits.ts",
        find: "head: after,\n      facts,",
        put: `head: after,
      facts: facts.length > 1 && facts.at(-1).type === "turn_completed" ? [...facts.slice(0, -2), facts.at(-1), facts.at(-2)] : facts,`
      }
    ],
    fault: "kill -9",
    caughtAs: /^(I2|J3)/
  },
  {
    name: "a disabled identity is ignored",
    edits: [{ file: "src/keys/postgres.ts", find: "identityDisabled: row.disabled", put: "identityDisabled: false" }],
    fault: "kill -9",
    caughtAs: /^R1/
  },
  {
    name: "a read without its workspace",
    edits: [
      {
        file: "src/threads/ThreadReads.ts",
        find: "h.workspace = $1 and h.id = $2",
        put: "$1::uuid is not null and h.id = $2"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J13/
  },
  {
    name: "a second answer is told that it counted",
    edits: [
      {
        file: "src/waits/waitRow.ts",
        find: `hash("sha256", JSON.stringify(essence(answer), sorted), "base64url")`,
        put: `"same"`
      }
    ],
    fault: "kill -9",
    caughtAs: /^J5/
  },
  {
    name: "an inbox that only hints deliver",
    edits: [
      {
        file: "src/journal/inbox.ts",
        find: "where (h.owner = $1 or (get_bit(",
        put: "where false and (h.owner = $1 or (get_bit("
      }
    ],
    fault: "NATS killed",
    caughtAs: /^(L1|J2)/
  },
  {
    name: "an answer before the commit",
    edits: [
      {
        file: "actors/commits.ts",
        find: "const { seq } = live.head\n",
        put: "const { seq } = live.head\n    for (const step of steps) step.item.reply(step.exit)\n"
      }
    ],
    fault: "the journal's connection of one node held for 8 s",
    caughtAs: /^J2/
  },
  {
    name: "doubt is forgotten",
    edits: [{ file: "src/journal/appends.ts", find: "trouble.doubtful ||= !isUndone(cause)", put: "void isUndone" }],
    fault: "connections to PostgreSQL reset",
    caughtAs: /^(J[1-6]|I\d|5xx|L\d)/
  },
  {
    name: "orphans are forgotten",
    edits: [
      {
        file: "actors/obligations.ts",
        find: "    this.enter(owed, crashes === undefined ? ",
        put: "    void (owed, crashes === undefined ? "
      }
    ],
    fault: "the journal's connection of one node held for 20 s",
    caughtAs: /^L1/
  },
  {
    name: "a leave says nothing",
    edits: [{ file: "actors/Jobs.ts", find: "if ((leaving() && run.repeatable) || ", put: "if (leaving() || " }],
    fault: "SIGTERM of a node",
    caughtAs: /^L2/
  },
  {
    name: "an outcome is told too late",
    edits: [
      {
        file: "actors/Jobs.ts",
        find: `if (task !== undefined && task.state !== "cut") continue`,
        put: `if (task?.state === "running") continue`
      }
    ],
    fault: "the journal's connection of one node held for 20 s",
    // The outcome of a call that must not run twice has to be in hand: with nine who call it, one run of eleven caught it.
    workload: { chargers: 30 },
    caughtAs: /^(L3|J12)/
  },
  {
    name: "a reservation without its lock",
    edits: [
      { file: "src/agents/Budgets.ts", find: "reserve_costs($1::uuid[]", put: "reserve_costs_unlocked($1::uuid[]" }
    ],
    fault: "kill -9",
    caughtAs: /^J11/
  },
  {
    name: "an approval is not asked again",
    edits: [
      {
        file: "http/operations/Decisions.ts",
        find: "const withdrawn = await rightsOf(workspace, stored, found.action)",
        put: "const withdrawn = undefined"
      }
    ],
    fault: "kill -9",
    caughtAs: /^O2/
  },
  {
    name: "a lease outlives its turn",
    edits: [
      {
        file: "http/Leases.ts",
        find: "if (running !== undefined) return running === turnId",
        put: "if (running !== undefined) return true"
      },
      {
        file: "http/Leases.ts",
        find: "standing?.agentId !== opened.agentId || standing.turnId !== opened.turnId) {",
        put: "standing?.agentId !== opened.agentId) {"
      },
      {
        file: "http/Leases.ts",
        find: "const forget = threads.onTurnEnd(opened.turnId, () => end(hash))",
        put: "const forget = threads.onTurnEnd(opened.turnId, () => {})"
      }
    ],
    fault: "kill -9",
    caughtAs: /^R2/
  },
  {
    name: "a compare-and-set that does not compare",
    edits: [
      {
        file: "src/memory/writing.ts",
        find: "when is_live and ($14::bool or version <> $15::uuid) then 'conflict'",
        put: "when is_live and $14::bool and version = $15::uuid then 'conflict'"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J7/
  },
  {
    name: "a boundary one event too far",
    edits: [
      {
        file: "actors/thread/memory/boundaries.ts",
        find: "{ pos: at.pos - 1, seq: at.seq - 1 }",
        put: "{ pos: at.pos, seq: at.seq }"
      }
    ],
    fault: "kill -9",
    caughtAs: /^I11/
  },
  {
    name: "seqs of a feed that leave gaps, as those of a sequence do",
    edits: [
      {
        file: "src/feeds/appending.ts",
        find: "const seq = lastSeq + rows.length + 1",
        put: "const seq = lastSeq + rows.length + 1 + (place === 1 && Math.random() < 0.2 ? 1 : 0)"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J8/
  },
  {
    name: "a cursor that is moved before the submit",
    edits: [
      {
        file: "actors/subscription/submitting.ts",
        find: "    return yield* send(being, batch, settings).pipe(",
        put: '    if (Math.random() < 0.1) return { type: "submitted", inputId, turnId: inputId } satisfies Outcome\n    return yield* send(being, batch, settings).pipe('
      }
    ],
    fault: "kill -9",
    caughtAs: /^J8/
  },
  {
    name: "a fire that nobody knows again",
    edits: [
      {
        file: "actors/schedule/perform.ts",
        find: "    yield* clear(being, schedule, run)",
        put: "    yield* clear(being, schedule, run)\n    if (Math.random() < 0.3) yield* submit(being, schedule, { ...run, runId: `${run.runId.slice(0, -8)}00000000` })"
      }
    ],
    fault: "kill -9",
    caughtAs: /^J10/
  },
  {
    name: "a fire without its fact",
    edits: [
      {
        file: "actors/schedule/kind.ts",
        find: "written: { facts: facts.map(row), happened",
        put: 'written: { facts: facts.filter(({ type }) => type !== "ran" || Math.random() < 0.7).map(row), happened'
      }
    ],
    fault: "kill -9",
    caughtAs: /^J10/
  },
  {
    name: "a delivery that is marked before it is sent",
    edits: [
      {
        file: "src/webhooks/due.ts",
        find: "update webhook_deliveries d set next_at = now()",
        put: "update webhook_deliveries d set state = 'delivered', next_at = now()"
      }
    ],
    fault: "kill -9",
    caughtAs: /^W1/
  }
]
