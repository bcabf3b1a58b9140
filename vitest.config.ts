import { globSync } from "node:fs"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const shared = {
  pool: "forks",
  setupFiles: ["test/setup/compiled.ts", "test/setup/schemas.ts"],
  teardownTimeout: 20_000
} as const

const within = { ...shared, testTimeout: 40_000, hookTimeout: 120_000 } as const
const programs = { ...shared, testTimeout: 240_000, hookTimeout: 300_000 } as const

/** The path of a test file. A name that has none ends every run: its file would run among the others, unseen. */
const named = (name: string) => {
  const file = `test/${name}.test.ts`
  if (globSync(file, { cwd: import.meta.dirname }).length === 0) throw new Error(`there is no ${file}`)
  return file
}

/** They count what their whole process counts, or put another module in the place of one: each has its own process. */
const apart = ["bus/*", "http/toolsLate", "models/layer", "telemetry/requests"].map(named)

/** They kill what runs, under leases of half a second, or hold what they see to short times. */
const alone = [
  "process/kill",
  "cluster/short",
  "http/slowSchemas",
  "http/judgedProviders",
  "http/judgedHistories",
  "contract/lease"
].map(named)

/** The files that take longest, in this order. The others go by what they took in the run before, where there was one. */
const long = [
  "browser/docs",
  "browser/live",
  "process/compose",
  "process/tour",
  "process/nodes",
  "http/webhookDeliveries",
  "tools/liars",
  "tools/liarCalls",
  "machines/walks",
  "machines/shortWalks",
  "tools/schemas",
  "http/scheduleMoments",
  "http/scheduleCrashes",
  "http/subscriptionCrashes"
].map(named)

/** Long files begin first: one that begins last runs alone at the end. A fresh clone knows no times of a run before. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const place = ({ moduleId }: TestSpecification) => {
      const found = long.findIndex((file) => moduleId.endsWith(`/${file}`))
      return found === -1 ? long.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

// Three groups, one after the other: files that share the machine's cores with whatever else runs, those that start
// programs and browsers, then those that want the machine for themselves.
export default defineConfig({
  test: {
    reporters: ["default"],
    globalSetup: ["test/setup/postgres.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...programs,
          name: "programs",
          include: ["test/process/**/*.test.ts"],
          exclude: alone,
          // Each is several processes, that compute while they start.
          maxWorkers: 2,
          sequence: { groupOrder: 1 }
        }
      },
      { test: { ...within, name: "apart", include: apart, maxWorkers: 3, sequence: { groupOrder: 0 } } },
      {
        test: {
          ...within,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...apart, ...alone, "test/{process,browser}/**"],
          // A worker loads the program once, for all files that it is given.
          isolate: false,
          // More than cores: many files wait for times that are promised.
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...programs,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 }
        }
      },
      {
        test: {
          ...programs,
          name: "alone",
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
