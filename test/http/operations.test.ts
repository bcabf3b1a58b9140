import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"

const server = await sharedServer()

const operation = async (verb: "disable" | "enable" = "disable", identity = "ann") =>
  (await server.alpha.post(`/v1/identities/${verb}`, { identity })).body.operation

describe("polling an operation", () => {
  it("gives what the call gave, at once when it is terminal, however long one would wait", async () => {
    const made = await operation()
    const began = performance.now()
    for (const query of ["", "?waitSeconds=0", "?waitSeconds=60"]) {
      const { body, status } = await server.alpha.get(`/v1/operations/${made.id}${query}`)
      assert.deepStrictEqual([status, body], [200, { operation: made }])
    }
    assert.isBelow(performance.now() - began, 5_000)
  })

  it("waits for an operation that is not resolved yet", async () => {
    const made = await operation()
    const set = (state: string) =>
      server.runtime.runPromise(
        server.database.run("test", (db) =>
          db.updateTable("operations").set({ state }).where("action", "=", made.action).execute()
        )
      )
    await set("pending")
    const waiting = server.alpha.get(`/v1/operations/${made.id}?waitSeconds=30`)
    assert.strictEqual((await server.alpha.get(`/v1/operations/${made.id}`)).body.operation.state, "pending")
    await set("completed")
    assert.strictEqual((await waiting).body.operation.state, "completed")
  })

  it("refuses other waits and unknown parameters", async () => {
    const { id } = await operation()
    for (const wait of ["61", "-1", "1.5", "x"])
      refusedAt(
        await server.alpha.get(`/v1/operations/${id}?waitSeconds=${wait}`),
        400,
        "invalid_request",
        "waitSeconds"
      )
    refusedAt(await server.alpha.get(`/v1/operations/${id}?wait=1`), 400, "invalid_request", "wait")
  })
})

describe("deciding an operation that is resolved", () => {
  it("is answered with it when the decision agrees, and refused when it does not", async () => {
    const made = await operation()
    const approved = await server.alpha.post(`/v1/operations/${made.id}/approve`, { reason: "fine" })
    assert.deepStrictEqual([approved.status, approved.body], [200, { operation: made }])
    refused(await server.alpha.post(`/v1/operations/${made.id}/deny`), 409, "operation_resolved")
    refused(await server.alpha.post(`/v1/operations/${made.id}/cancel`), 409, "operation_resolved")
    refused(
      await server.alpha.send("POST", `/v1/operations/${made.id}/cancel`, undefined, { "idempotency-key": "c" }),
      409,
      "operation_resolved"
    )
  })

  it("takes a reason of 1 KiB, and nothing else", async () => {
    const { id } = await operation()
    assert.strictEqual(
      (await server.alpha.post(`/v1/operations/${id}/approve`, { reason: "r".repeat(1024) })).status,
      200
    )
    refusedAt(
      await server.alpha.post(`/v1/operations/${id}/approve`, { reason: "r".repeat(1025) }),
      400,
      "invalid_request",
      "reason"
    )
    refusedAt(await server.alpha.post(`/v1/operations/${id}/deny`, { because: "r" }), 400, "invalid_request", "because")
    refused(await server.alpha.post(`/v1/operations/${id}/cancel`, { reason: "r" }), 400, "invalid_request")
  })
})

describe("listing operations", () => {
  it("filters and pages newest first", async () => {
    const made = [await operation("disable", "x"), await operation("enable", "x"), await operation("enable", "y")]
    const ids = async (query: string) =>
      (await server.alpha.get(`/v1/operations?${query}`)).body.operations.map((one: { id: string }) => one.id)
    assert.deepStrictEqual(await ids("action=identity.enable&limit=2"), [made[2].id, made[1].id])
    assert.deepStrictEqual(await ids("state=completed&limit=3"), made.map((one) => one.id).toReversed())
    for (const query of ["state=pending", "action=memory.delete", `agentId=${absent("agt_")}`])
      assert.deepStrictEqual(await ids(query), [])
    const { nextCursor } = (await server.alpha.get("/v1/operations?action=identity.enable&limit=1")).body
    assert.deepStrictEqual(await ids(`cursor=${nextCursor}&limit=1`), [made[1].id])
    refusedAt(
      await server.alpha.get(`/v1/operations?cursor=${nextCursor}&action=identity.disable`),
      400,
      "invalid_request",
      "cursor"
    )
  })

  it("refuses other filters", async () => {
    for (const [query, path] of [
      ["state=done", "state"],
      ["action=x", "action"],
      ["agentId=agt_1", "agentId"],
      ["limit=201", "limit"],
      ["order=asc", "order"]
    ] as const) {
      refusedAt(await server.alpha.get(`/v1/operations?${query}`), 400, "invalid_request", path)
    }
  })
})
