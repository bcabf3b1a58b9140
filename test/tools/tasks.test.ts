/** Tools that have to be run as tasks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { startTaskServer, type TaskServerOptions } from "./taskServer.ts"
import { makeFieldTools } from "./fieldFixture.ts"

const server = await sharedServer()
const { registered, run } = makeFieldTools(server)

describe("a tool that has to be run as a task", () => {
  const withTasks = async (
    options: TaskServerOptions,
    work: (
      tasks: Awaited<ReturnType<typeof startTaskServer>>,
      toolset: Awaited<ReturnType<typeof registered>>
    ) => Promise<void>
  ) => {
    const tasks = await startTaskServer(options)
    try {
      await work(tasks, await registered(tasks.url))
    } finally {
      await tasks.close()
    }
  }

  it("is run as one, and its result is the task's; its neighbours are called as ever", () =>
    withTasks({}, async ({ ledger, ttls }, { called, find }) => {
      assert.deepStrictEqual(await called("research"), { output: "found" })
      assert.deepStrictEqual(ledger, ["tools/call", "tasks/get", "tasks/get", "tasks/result"])
      assert.isAbove(Number(ttls[0]), (await find("research")).timeoutMs)
      assert.deepStrictEqual(await called("plain"), { output: "plain" })
      assert.strictEqual(ledger.length, 5)
    }))

  it("fails with what its task failed with", () =>
    withTasks(
      {
        states: [{ status: "failed" }],
        result: { isError: true, content: [{ type: "text", text: "no such library" }] }
      },
      async (_, { called }) => {
        assert.deepStrictEqual(await called("research"), { failure: { code: "tool_error", text: "no such library" } })
      }
    ))

  it("says that its server has cancelled it", () =>
    withTasks({ states: [{ status: "cancelled", statusMessage: "too late" }] }, async (_, { called }) => {
      assert.deepStrictEqual(await called("research"), {
        failure: { code: "tool_error", text: "the server has cancelled the task: too late" }
      })
    }))

  it("is cancelled where it wants an answer of its client, and says so", () =>
    withTasks({ states: [{ status: "input_required" }] }, async ({ ledger }, { called }) => {
      const { failure } = await called("research")
      assert.strictEqual(failure?.code, "tool_error")
      assert.include(failure?.text, "which Troupe does not give")
      await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
    }))

  it("has no known outcome where its server does not know it any more", () =>
    withTasks({ states: [undefined] }, async (_, { called }) => {
      assert.deepStrictEqual(await called("research"), {
        failure: {
          code: "tool_outcome_unknown",
          text: "nothing more is heard of the task: Task not found: the tool may or may not have done its work"
        }
      })
    }))

  it("is cancelled at the server when its call is, while it runs and while it is created", async () => {
    let create = () => {}
    const created = new Promise<void>((resolve) => {
      create = resolve
    })
    for (const [creating, point] of [
      [undefined, "tasks/get"],
      [() => created, "tools/call"]
    ] as const) {
      await withTasks(
        { states: [{ status: "working" }], ...(creating && { creating }) },
        async ({ ledger }, { find, workspace }) => {
          const tool = await find("research")
          await run((toolsets) =>
            Effect.gen(function* () {
              const calling = yield* Effect.forkChild(toolsets.call(workspace, tool, {}, "call_gone"))
              yield* Effect.promise(() => eventually(() => ledger.includes(point), point))
              yield* Fiber.interrupt(calling)
            })
          )
          create()
          await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
        }
      )
    }
  })

  it("ends with its time, and is cancelled", () =>
    withTasks({ states: [{ status: "working" }] }, async ({ ledger }, { calling, find }) => {
      assert.strictEqual((await calling({ ...(await find("research")), timeoutMs: 200 })).failure?.code, "tool_timeout")
      await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
    }))

  it("is left out where its server does not declare that it runs tasks", () =>
    withTasks({ declares: false }, async (_, { read }) => {
      const { status, statusReason, toolCount } = await read()
      assert.deepStrictEqual(
        [status, toolCount, statusReason],
        [
          "ready",
          1,
          "left out: research: it has to be run as a task, and its server does not declare that it runs tasks"
        ]
      )
    }))
})
