/**
 * `npm run bench`: turns a second, beside the yardstick, interleaved on the same PostgreSQL.
 *
 *   --seconds 10     of each measured run         --warmup 6     before each: schemas and code are compiled by then
 *   --repeat 3       runs of each, median shown   --clients 1,16,64
 *   --modes A,B      A creates, submits and polls; B creates with a message and listens to one stream
 *   --only troupe    or yardstick
 *   --statements     also shows what each SQL statement cost
 *   --profile        runs the server under --cpu-prof (a file in .troupe/bench)
 *   --against C      beside commit C instead, or several (C,D), with the first beside itself as control (against.ts)
 *   --rounds 9       of that comparison, at 16 and 64 clients unless --clients says others; --seconds 8 of each server in
 *                    a round, in four windows, --warmup 2 before each window
 *   --together       both under load at the same time instead, at 16 and 32 clients each (together.ts): beside one
 *                    commit, and without --write
 *   --node="--x=1"   flags of Node for this checkout's server there: what a setting of V8 costs, with --against HEAD
 *   --write          puts the table into docs/benchmarks.md
 */
import { parseArgs } from "node:util"
import { against } from "./against.ts"
import { besideYardstick } from "./besideYardstick.ts"
import { together } from "./together.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string" },
    warmup: { type: "string" },
    repeat: { type: "string", default: "3" },
    clients: { type: "string" },
    modes: { type: "string", default: "A,B" },
    only: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string", default: "9" },
    node: { type: "string", default: "" },
    together: { type: "boolean", default: false },
    statements: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const { only, profile, seconds, statements, warmup, write } = values
const levels = (text: string) => text.split(",").map(Number)

const [commit, ...others] = values.against?.split(",") ?? []
if (commit === undefined) {
  await besideYardstick({
    seconds: Number(seconds ?? 10),
    warmupSeconds: Number(warmup ?? 6),
    repeat: Number(values.repeat),
    levels: levels(values.clients ?? "1,16,64"),
    modes: (["A", "B"] as const).filter((mode) => values.modes.toUpperCase().includes(mode)),
    only,
    statements,
    profile,
    write
  })
} else if (values.together) {
  if (others.length > 0 || write) throw new Error("--together takes one commit, and writes nothing")
  await together({
    commit,
    clients: levels(values.clients ?? "16,32"),
    rounds: Number(values.rounds),
    seconds: Number(seconds ?? 8),
    warmupSeconds: Number(warmup ?? 3),
    flags: values.node.split(" ").filter((flag) => flag !== "")
  })
} else {
  await against({
    commits: [commit, ...others],
    clients: levels(values.clients ?? "16,64"),
    rounds: Number(values.rounds),
    seconds: Number(seconds ?? 8),
    warmupSeconds: Number(warmup ?? 2),
    flags: values.node.split(" ").filter((flag) => flag !== ""),
    write
  })
}
