/** What an agent has spent, as budgets ask for it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Spending } from "../../src/agents/Spending.ts"
import { Database } from "../../src/database/Database.ts"
import { makeAgent } from "../http/threadFixture.ts"
import { sharedServer } from "../setup/server.ts"

const server = await sharedServer()
const { alpha } = server.workspaces

describe("what an agent has spent", () => {
  it("is read once for all who ask at once", async () => {
    const agentId = await makeAgent(server.alpha)
    let reads = 0
    const counting = Database.of({
      ...server.database,
      read: (statement) => {
        reads++
        return server.database.read(statement)
      }
    })
    const spends = await server.runtime.runPromise(
      Effect.flatMap(Spending, ({ of }) =>
        Effect.forEach(Array.from({ length: 100 }), () => of(alpha, agentId, "24h"), { concurrency: "unbounded" })
      ).pipe(Effect.provide(Layer.provide(Layer.fresh(Spending.layer), Layer.succeed(Database, counting))))
    )
    assert.strictEqual(new Set(spends).size, 1)
    assert.strictEqual(reads, 1)
  })
})
