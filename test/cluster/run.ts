/**
 * `npm run test:faults`: every fault, so many runs of each, and the planted bugs; a table into
 * docs/reliability.md.
 *
 *     npm run test:faults                          everything, and the table is written
 *     npm run test:faults -- --only kill,SIGSTOP   faults whose names hold one of these; nothing is written
 *     npm run test:faults -- --only none --plant lease     planted bugs whose names hold this
 *     npm run test:faults -- --only hostile --runs 1 --seconds 600     the long form of a fault that has a length
 *     npm run test:faults -- --from 0123abc        also: nodes of that commit beside those of this one
 *     npm run test:faults -- --runs 5 --seed 17 --no-nats --no-plants --keep
 */
import { randomBytes } from "node:crypto"
import { parseArgs } from "node:util"
import { checkOut } from "../../bench/checkout.ts"
import { Cluster } from "./Cluster.ts"
import { experiment, type Fault, missedBars, type Result } from "./experiment.ts"
import { faults } from "./faults.ts"
import { versions } from "./faults/upgrade.ts"
import { type Caught, hunt } from "./hunt.ts"
import { plants } from "./plants.ts"
import { describe, row, tellCaught, writeReport } from "./report.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runs: { type: "string", default: "2" },
    seed: { type: "string" },
    users: { type: "string" },
    inputs: { type: "string" },
    seconds: { type: "string" },
    from: { type: "string" },
    plant: { type: "string" },
    nats: { type: "boolean", default: true },
    plants: { type: "boolean", default: true },
    write: { type: "boolean", default: false },
    keep: { type: "boolean", default: false }
  },
  allowNegative: true
})

const wanted = values.only?.split(",").map((word) => word.trim().toLowerCase())
// Before anything runs: it takes the disk for seconds.
const older = values.from === undefined ? undefined : await checkOut(values.from)
const all = older === undefined ? faults : [...faults, versions(older)]
const chosen = all.filter(
  ({ name }) => wanted === undefined || wanted.some((word) => name.toLowerCase().includes(word))
)
const first = Number(values.seed ?? randomBytes(3).readUIntLE(0, 3))
const results: Array<Result> = []

let seed = first
console.log(`faults: --seed ${first}`)
let cluster: Cluster | undefined
let own: Fault["own"]
const stop = async () => {
  if (values.keep && cluster !== undefined) console.log(`logs are in ${await cluster.keepLogs()}`)
  await cluster?.stop()
}
try {
  for (const fault of chosen) {
    for (let run = 0; run < Number(values.runs); run++) {
      try {
        if (cluster !== undefined && fault.own !== own) {
          await stop()
          cluster = undefined
        }
        own = fault.own
        cluster ??= await Cluster.start({ nats: values.nats, ...own })
        const result = await experiment(cluster, fault, {
          seed: seed++,
          ...(values.inputs === undefined ? {} : { inputs: Number(values.inputs) }),
          ...(values.users === undefined ? {} : { users: Number(values.users) }),
          ...(values.seconds === undefined ? {} : { seconds: Number(values.seconds) })
        })
        results.push(result)
        console.log(describe(result))
        if (wanted === undefined || values.write) await writeReport(results, [])
      } catch (cause) {
        console.error(`${fault.name} (seed ${seed - 1}) could not be run:`, cause)
        process.exitCode = 1
        await stop()
        cluster = undefined
      }
    }
  }
} finally {
  await stop()
  await older?.remove()
}

/** Whether the checker catches each planted bug, and at which run. */
const caught: Array<Caught> = []
if (values.plants && (wanted === undefined || values.plant !== undefined)) {
  for (const plant of plants.filter(({ name }) => values.plant === undefined || name.includes(values.plant))) {
    const fault = faults.find(({ name }) => name.startsWith(plant.fault))
    if (fault === undefined) throw new Error(`no fault begins with ${plant.fault}`)
    const found = await hunt(plant, fault, seed, values.nats).catch((cause: unknown): Caught => {
      console.error(cause)
      return { plant, run: undefined, violation: undefined }
    })
    seed += 5
    caught.push(found)
    console.log(tellCaught(found))
    if (wanted === undefined || values.write) await writeReport([], caught)
    if (found.run === undefined) process.exitCode = 1
  }
}

console.log(
  results.length === 0
    ? "nothing was run"
    : chosen.map(({ name }) => row(results.filter(({ fault }) => fault === name))).join("\n")
)
if (results.some(({ violations }) => violations.length > 0)) process.exitCode = 1
if (results.some((result) => missedBars(result).length > 0)) process.exitCode = 1
if (wanted === undefined || values.write) await writeReport(results, caught)
process.exit()
