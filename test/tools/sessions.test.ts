/** Sessions with tool servers when a workspace has more servers than room (M1). */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshId } from "../../src/seed.ts"
import { Sessions } from "../../src/tools/mcp/Sessions.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "./mcpServer.ts"

const server = await during(startServer())

it("belongs to its workspace: another's many toolsets do not end it", async () => {
  const servers = [await startMcpServer(), await startMcpServer(), await startMcpServer()]
  try {
    const opened = await server.runtime.runPromise(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const heard: Array<string> = []
        sessions.onChange((workspace, _toolset, _server, what) => {
          if (what === "opened") heard.push(workspace)
        })
        const [theirs, ...many] = servers.map(({ url }) => url)
        const toolsetId = freshId("toolset")
        const use = (workspace: string, id: string, url: string | undefined) =>
          Effect.orDie(sessions.use(workspace, id, { url: url ?? "" }, (session) => session.list))
        yield* use(server.workspaces.beta, toolsetId, theirs)
        for (const url of many) yield* use(server.workspaces.alpha, freshId("toolset"), url)
        yield* use(server.workspaces.beta, toolsetId, theirs)
        return heard
      }).pipe(Effect.provide(Sessions.layerOf(1)))
    )
    assert.deepStrictEqual(opened, [server.workspaces.beta, server.workspaces.alpha, server.workspaces.alpha])
  } finally {
    await Promise.all(servers.map((one) => one.close()))
  }
})

it("makes room for another by giving up the oldest, which its user keeps to the end", async () => {
  const servers = [await startMcpServer(), await startMcpServer(), await startMcpServer()]
  try {
    const listed = await server.runtime.runPromise(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const [first, second, third] = servers.map(({ url }) => {
          const toolsetId = freshId("toolset")
          return <A>(more: Effect.Effect<A>) =>
            sessions.use(server.workspaces.alpha, toolsetId, { url }, (session) =>
              Effect.flatMap(more, (before) =>
                Effect.map(session.list, ({ offers }) => [before, offers.length] as const)
              )
            )
        })
        // The first is in use while the third, one too many, is opened.
        return yield* first!(Effect.orDie(Effect.andThen(second!(Effect.void), third!(Effect.void))))
      }).pipe(Effect.provide(Sessions.layerOf(2)))
    )
    assert.deepStrictEqual(listed, [[undefined, 11], 11])
  } finally {
    await Promise.all(servers.map((one) => one.close()))
  }
})

it("asks the next time where the SDK could not be loaded, and says that nothing was asked", async () => {
  const mcp = await startMcpServer()
  let loads = 0
  try {
    const [first, second] = await server.runtime.runPromise(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const toolsetId = freshId("toolset")
        const list = sessions.use(server.workspaces.alpha, toolsetId, { url: mcp.url }, (session) => session.list)
        return [yield* Effect.flip(list), yield* list] as const
      }).pipe(
        Effect.provide(
          Sessions.layerOf(1, () =>
            loads++ === 0
              ? Promise.reject(new Error("Cannot find module /troupe/x"))
              : import("../../src/tools/mcp/Session.ts")
          )
        )
      )
    )
    assert.deepStrictEqual(
      [first.reason, first.message],
      ["unasked", "this node could not load what it asks tool servers with"]
    )
    assert.strictEqual(second.offers.length, 11)
  } finally {
    await mcp.close()
  }
})
