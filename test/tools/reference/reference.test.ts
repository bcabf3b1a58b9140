/**
 * The servers that the makers of the protocol publish: every tool that they list, and a life that goes on when one of
 * them is killed.
 */
import { assert, describe, it } from "@effect/vitest"
import { chmod, realpath } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { ended, logOf, submit } from "../../http/threadFixture.ts"
import { addToolset, begin, call, makeWorker, only, outcomes, turnOf } from "../../http/toolFixture.ts"
import { during, folderDuring } from "../../setup/during.ts"
import { sharedServer } from "../../setup/server.ts"
import { startBridge } from "./bridge.ts"
import { connectClient, startEverything, stdioServers, type StdioServers } from "./servers.ts"
import { assertShows } from "./shown.ts"
import { everything, filesystem, memory, sequentialthinking, type Step } from "./steps.ts"

const home = await realpath(await folderDuring("reference"))
await chmod(home, 0o755)
const server = await sharedServer()
const reference = await during(startEverything())
const programs = await stdioServers(home)

/**
 * All steps by a turn of a thread, a call a round, the slow ones by another thread; the results in the order of the
 * steps.
 */
const inThreads = async (url: string, steps: ReadonlyArray<Step>) => {
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url })
  const { body } = await server.alpha.get(`/v1/toolsets/${id}`)
  assert.strictEqual(body.toolset.status, "ready", JSON.stringify(body.toolset))
  const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
  const inOne = async (part: ReadonlyArray<Step>) => {
    const lines = part.map(({ input, tool }) => call(`${namespace}.${tool}`, input))
    const log = await turnOf(server.alpha, agentId, lines.join("\n/then\n"))
    const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event]))
    return only(log, "tool_intent").map(({ toolCallId }, i) => [part[i], results.get(toolCallId)] as const)
  }
  const parts = [steps.filter(({ isSlow }) => isSlow !== true), steps.filter(({ isSlow }) => isSlow === true)]
  const shown = new Map((await Promise.all(parts.filter((part) => part.length > 0).map(inOne))).flat())
  return steps.map((step) => shown.get(step))
}

/** The same by a client of the servers' own SDK. */
const byClient = async (to: Parameters<typeof connectClient>[0], steps: ReadonlyArray<Step>) => {
  const client = await connectClient(to)
  try {
    const results = []
    for (const { input, tool } of steps) results.push(await client.call(tool, input))
    return { results, tools: client.tools }
  } finally {
    await client.close()
  }
}

/** Both at once, each with its own inputs. */
const assertSame = async (
  url: string,
  to: Parameters<typeof connectClient>[0],
  ours: ReadonlyArray<Step>,
  theirs = ours
) => {
  const [shown, { results, tools }] = await Promise.all([inThreads(url, ours), byClient(to, theirs)])
  assert.sameMembers([...new Set(ours.map(({ tool }) => tool))], tools)
  for (const [i, result] of results.entries()) {
    const what = `${ours[i]?.tool} ${JSON.stringify(ours[i]?.input)}`
    const event = shown[i]
    if (event === undefined) assert.fail(`${what}: no result`)
    assertShows(home, event, result, what)
  }
}

const bridged = async (name: keyof StdioServers, ours: ReadonlyArray<Step>, theirs = ours) => {
  const bridge = await startBridge(programs[name]("troupe"))
  try {
    await assertSame(bridge.url, programs[name]("client"), ours, theirs)
  } finally {
    await bridge.close()
  }
}

/** Nine processes start at once, on as few cores as there are. */
const patienceMs = 60_000

describe("every tool that it lists gives a thread what it gives a client of its own SDK:", () => {
  it.concurrent("server-everything", () => assertSame(reference.url, reference, everything), patienceMs)
  it.concurrent(
    "server-filesystem",
    () => bridged("filesystem", filesystem(join(home, "troupe")), filesystem(join(home, "client"))),
    patienceMs
  )
  it.concurrent("server-memory", () => bridged("memory", memory), patienceMs)
  it.concurrent("server-sequential-thinking", () => bridged("sequentialthinking", sequentialthinking), patienceMs)
})

describe("a server that is killed and started again", () => {
  it("costs nothing where nobody called in between", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: reference.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const echo = (message: string) =>
      turnOf(server.alpha, agentId, call(`${namespace}.echo`, { message })).then(outcomes)
    assert.deepStrictEqual(await echo("before"), ["Echo: before"])
    await reference.kill()
    await reference.startAgain()
    assert.deepStrictEqual(await echo("after"), ["Echo: after"])
  })

  it("costs a thread at most the one call that finds it gone, at twenty calls a second, and no refresh", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: reference.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const status = async () => (await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset.status
    const [threads, everyMs] = [20, 1_000]
    const [up, allBegun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let begun = 0
    let isBack = false

    /**
     * A call a second; who has met the server's absence goes on when it is back. Which of its calls were good, to the
     * second one after that.
     */
    const caller = async (index: number) => {
      const good: Array<boolean> = []
      const words = () => call(`${namespace}.echo`, { message: `${index} ${good.length}` })
      await sleep((index * everyMs) / threads)
      const threadId = await begin(server.alpha, agentId, words())
      for (let since = 0; ; ) {
        const [next, wasBack] = [sleep(everyMs), isBack]
        const outcome = outcomes(await logOf(server.alpha, threadId, ended(good.length + 1))).at(-1)
        const isGood = outcome === `Echo: ${index} ${good.length}`
        if (!isGood) assert.strictEqual(outcome, "toolset_unreachable")
        if (good.push(isGood) === 1 && ++begun === threads) allBegun.resolve()
        if (wasBack && ++since === 2) return good
        await (isGood ? next : up.promise)
        await submit(server.alpha, threadId, words())
      }
    }
    const trouble = async () => {
      await allBegun.promise
      await reference.kill()
      await reference.startAgain()
      isBack = true
      up.resolve()
    }
    const [told] = await Promise.all([
      Promise.all(Array.from({ length: threads }, (_, index) => caller(index))),
      trouble()
    ])
    for (const [index, good] of told.entries()) {
      const bad = good.filter((one) => !one).length
      assert.isAtMost(bad, 1, `thread ${index}: ${good.join(" ")}`)
      assert.isTrue(good.at(-1), `thread ${index}: ${good.join(" ")}`)
    }
    assert.strictEqual(await status(), "ready")
  })
})
