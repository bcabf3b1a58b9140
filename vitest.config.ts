import { defineConfig } from "vitest/config"

const shared = {
  pool: "forks",
  testTimeout: 20_000,
  hookTimeout: 60_000,
  teardownTimeout: 20_000
} as const

// Two groups, one after the other: files that share the machine's cores, then those that start,
// kill and time real server processes and want the machine for themselves.
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
          include: ["test/**/*.test.ts"],
          exclude: ["test/process/**", "test/browser/**", "test/cluster/**"],
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...shared,
          name: "alone",
          include: ["test/{process,browser,cluster}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
