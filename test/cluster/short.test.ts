/** The short form of the fault suite: three real nodes, one of which is killed in the midst of work. */
import { assert, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { during } from "../setup/during.ts"
import { Cluster } from "./Cluster.ts"
import { experiment, type Fault } from "./experiment.ts"
import { kill } from "./faults/nodes.ts"
import { describe as told } from "./report.ts"

const seed = Number(process.env.TROUPE_SEED ?? randomBytes(3).readUIntLE(0, 3))

const cluster = await during(Cluster.start())
/** A run that is tried again finds in the cluster what the one before has left: it goes by the next seed. */
let tried = 0

/** Figures are for quiet machines: `npm run test:faults` judges them. */
const run = async (fault: Fault) => {
  const result = await experiment(cluster, fault, { seed: seed + tried++, inputs: 100, users: 15 })
  console.log(told(result))
  assert.deepStrictEqual(result.violations, [])
}

it(`a node that is killed loses nothing, and others go on with its work (TROUPE_SEED=${seed})`, () => run(kill))
