/** Runs a cluster with a planted bug until the checker says so: five times at most. */
import { Cluster } from "./Cluster.ts"
import { experiment, type Fault } from "./experiment.ts"
import type { Plant } from "./plants.ts"

const most = 5

export interface Caught {
  readonly plant: Plant
  /** Undefined: nobody noticed. */
  readonly run: number | undefined
  readonly violation: string | undefined
}

export const hunt = async (plant: Plant, fault: Fault, seed: number, nats: boolean): Promise<Caught> => {
  const sharper = { ...fault, workload: { ...fault.workload, ...plant.workload } }
  for (let run = 1; run <= most; run++) {
    const cluster = await Cluster.start({ nats, planted: plant.name })
    try {
      const { violations } = await experiment(cluster, sharper, { seed: seed + run, inputs: 150, users: 40 })
      const violation = violations.find((text) => plant.caughtAs.test(text))
      if (violation !== undefined) return { plant, run, violation }
      for (const other of violations.slice(0, 5)) console.log(`     planted: ${plant.name}, run ${run}: ${other}`)
    } finally {
      await cluster.stop()
    }
  }
  return { plant, run: undefined, violation: undefined }
}
