import { defineConfig } from "vitest/config"

const shared = {
  pool: "forks",
  setupFiles: ["test/setup/compiled.ts", "test/setup/schemas.ts"],
  testTimeout: 20_000,
  hookTimeout: 60_000,
  teardownTimeout: 20_000
} as const

/** They start programs, and do not mind what else runs. */
const programs = [
  "test/browser/**/*.test.ts",
  ...[
    "asking",
    "clone",
    "compose",
    "dev",
    "embedded",
    "install",
    "secrets",
    "streams",
    "terminal",
    "tour",
    "waits"
  ].map((name) => `test/process/${name}.test.ts`)
]

// Three groups, one after the other: files that share the machine's cores, those that start whole programs,
// then those that kill and time real server processes and want the machine for themselves.
export default defineConfig({
  test: {
    reporters: ["default"],
    maxWorkers: 2,
    globalSetup: ["test/setup/postgres.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          // One more than cores: many of them wait for times that are promised.
          maxWorkers: 3,
          include: ["test/**/*.test.ts"],
          exclude: ["test/process/**", "test/browser/**", "test/cluster/**"],
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...shared,
          name: "programs",
          include: programs,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 }
        }
      },
      {
        test: {
          ...shared,
          name: "alone",
          include: ["test/{process,cluster}/**/*.test.ts"],
          exclude: programs,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
