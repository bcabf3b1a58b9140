/**
 * A hostile client: without a key, then with a key of each scope of its own workspace, then with all of them, it does
 * to one node what the limits are against. The others on that node must hardly notice.
 *
 * The node runs with the defaults of `serve`, except that it may call private addresses: the hosts that the client
 * names for its hooks are on this machine. What its neighbours feel is held against the same time beside a process
 * that uses as much CPU and asks nothing.
 */
import { createServer } from "node:http"
import { openInspector } from "../../../bench/inspector.ts"
import { field } from "../../../src/cli/client.ts"
import type { Scope } from "../../../src/keys/apiKey.ts"
import { scopes } from "../../../src/keys/scopes.ts"
import { Child } from "../../process/Child.ts"
import { mark } from "../audit.ts"
import { Caller } from "../Caller.ts"
import type { Workspace } from "../Cluster.ts"
import type { Fault, Scene } from "../experiment.ts"
import { guardProcess } from "../guarded.ts"
import type { AttackerOptions, AttackerReport } from "../hostile/attacker.ts"
import type { BurnerOptions } from "../hostile/burner.ts"
import { dearPattern, hookTest, type Tally, type Target } from "../hostile/attacks.ts"
import { quantile } from "../measures.ts"
import { Neighbours } from "../Neighbours.ts"
import type { Node } from "../Node.ts"
import { some } from "./bars.ts"

const usualSeconds = 60
const quietMs = 15_000
/** The bar of what is open for a revoked key, and what its client needs to see it. */
const revokedMs = 5_500
const mib = 2 ** 20

/** What the cluster sets and `serve` does not. */
const defaults = {
  TROUPE_RATE_LIMIT: "",
  TROUPE_WORKSPACE_RATE_LIMIT: "",
  TROUPE_MAX_TURNS: "",
  TROUPE_MAX_CALLS: "",
  TROUPE_LEASE_TTL_MS: "",
  TROUPE_LOG_LEVEL: "",
  NODE_OPTIONS: "--inspect=127.0.0.1:0"
}

const program = (name: string, argument: string) => {
  const child = new Child(process.execPath, [`${import.meta.dirname}/../hostile/${name}.ts`, argument], { input: true })
  guardProcess(child.process.pid)
  return child
}

/** What the client has before it turns on the node: a long thread, an agent with a dear tool, a key of each scope. */
const prepare = async (caller: Caller, node: Node): Promise<Target> => {
  const create = async (path: string, body: object) => {
    const answer = await caller.ask("POST", path, body, { node })
    if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
    return answer.body
  }
  const namespace = `dear${Math.floor(caller.random() * 1e9).toString(36)}`
  const toolset = await caller.ask(
    "POST",
    "/v1/toolsets",
    {
      kind: "client",
      namespace,
      tools: [
        { name: "t", inputSchema: { type: "object", properties: { s: { type: "string", pattern: dearPattern } } } }
      ]
    },
    { node }
  )
  // A node that refuses such a schema outright is right too.
  const toolsetIds = toolset?.status === 201 ? [field(toolset.body, "toolset", "id")] : []
  const profileId = field(
    await create("/v1/profiles", { name: "hostile", models: ["ledger/model"], toolsetIds }),
    "profile",
    "id"
  )
  const agentId = field(await create("/v1/agents", { name: "hostile", profileId }), "agent", "id")
  const threadId = field(await create("/v1/threads", { agentId }), "thread", "id")
  const keyOf = async (scope: Scope) => field(await create("/v1/auth/keys", { name: scope, scopes: [scope] }), "token")
  const keys: Partial<Record<Scope, string>> = {}
  for (const scope of scopes) keys[scope] = await keyOf(scope)
  // Two thirds of a page are messages and answers of 8 KiB.
  for (let i = 0; i < 66; i++)
    await create(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "page ".repeat(1_600) }] })
  for (const until = performance.now() + 60_000; ; ) {
    const seen = await caller.ask("GET", `/v1/threads/${threadId}`, undefined, { node })
    if (Number(field(seen?.body, "lastSeq")) >= 190) break
    if (performance.now() > until) throw new Error("the thread does not grow")
    await new Promise((later) => setTimeout(later, 250))
  }
  const { admin, approve, read, run, write } = keys
  if (admin === undefined || approve === undefined || read === undefined || run === undefined || write === undefined)
    throw new Error("a scope has no key")
  const watchingKey = await keyOf("read")
  return { base: node.base, keys: { admin, approve, read, run, write }, watchingKey, threadId, agentId, namespace }
}

/** How the node's loop and memory do, asked of the process itself. */
const inspect = async (node: Node) => {
  const inspector = await openInspector(node.options.log, node.pid ?? 0)
  return {
    /** Forgets what was measured of the loop. */
    begin: () =>
      inspector.evaluate(
        `(globalThis.loopDelay?.disable(), globalThis.loopDelay = process.getBuiltinModule("node:perf_hooks").monitorEventLoopDelay({ resolution: 10 })).enable()`
      ),
    /** Milliseconds by which a timer of 10 ms was late. */
    loopP99: async () => Number(await inspector.evaluate("globalThis.loopDelay.percentile(99) / 1e6")) - 10,
    held: async () => {
      await inspector.collected()
      const { external, heapUsed } = await inspector.memory()
      return heapUsed + external
    },
    close: inspector.close
  }
}

/** How long what a revoked key has open goes on; not measured where the node gives no key in time. */
const revokedPoll = async (caller: Caller, node: Node, threadId: string) => {
  const made = await caller.ask(
    "POST",
    "/v1/auth/keys",
    { name: "revoked", scopes: ["read"] },
    { node, patience: 10_000 }
  )
  if (made?.status !== 201) return { status: 0, ms: undefined }
  const token = field(made.body, "token")
  const poll = fetch(`${node.base}/v1/threads/${threadId}/events?afterSeq=1000000&waitSeconds=30`, {
    headers: { authorization: `Bearer ${token}` }
  }).then(async (answer) => {
    await answer.text()
    return answer.status
  })
  await new Promise((later) => setTimeout(later, 1_000))
  const gone = await caller.ask("DELETE", `/v1/auth/keys/${field(made.body, "key", "id")}`, undefined, {
    node,
    patience: 10_000
  })
  if (gone === undefined) return { status: 0, ms: undefined }
  const revoked = performance.now()
  const status = await poll.catch(() => 0)
  return { status, ms: performance.now() - revoked }
}

/** Hooks of a neighbour, once a second: how many failed. */
const hooking = async (workspace: Workspace, node: Node) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(`{"decision":"allow"}`)
  })
  await new Promise<void>((up) => {
    server.listen(0, "127.0.0.1", up)
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`
  let [asked, failed] = [0, 0]
  const timer = setInterval(() => {
    asked++
    fetch(`${node.base}/v1/hooks/test`, {
      method: "POST",
      signal: AbortSignal.timeout(10_000),
      headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
      body: JSON.stringify(hookTest(url))
    })
      .then(async (answer) => {
        if (field(await answer.json(), "outcome", "decision") !== "allow") failed++
      })
      .catch(() => {
        failed++
      })
  }, 1_000)
  return () => {
    clearInterval(timer)
    server.close()
    return { asked, failed }
  }
}

const shortOf = (tallies: AttackerReport["tallies"]) =>
  Object.entries(tallies)
    .map(
      ([name, tally]: [string, Tally]) =>
        `${name}: ${Object.entries(tally)
          .map(([what, n]) => `${n} ${what}`)
          .join(", ")}`
    )
    .join("; ")

const inject = async ({ clients, cluster, history, random, seconds = usualSeconds, sleep }: Scene) => {
  if (!(clients instanceof Neighbours)) throw new Error("nobody to be disturbed")
  const { node } = clients
  const [own, other] = cluster.workspaces.map((workspace) => new Caller(cluster, workspace, history, random))
  const caller = some(own)
  const target = await prepare(caller, node)
  await sleep(quietMs)
  const inspected = await inspect(node)
  const quiet = await inspected.held()
  const before = await mark(cluster.pool)

  const options: AttackerOptions = { target, seconds }
  await inspected.begin()
  const hooks = await hooking(some(other).workspace, node)
  const attacker = program("attacker", JSON.stringify(options))
  const [, stages] = await attacker.until(/^stage 1 of (\d+)/m)
  const attacked = performance.now()
  await attacker.until(/^last$/m)
  await sleep(Math.max((seconds * 1_000) / Number(stages), 3_000))
  const { ms: revoked, status } = await revokedPoll(some(other), node, [...history.threads.keys()][0] ?? "")
  const over = performance.now()
  const loopP99 = await inspected.loopP99()
  // The collection that is ours would be felt by what was asked before it.
  await sleep(1_000)
  // With all that it has left open still open.
  const held = await inspected.held()
  attacker.process.stdin?.end()
  const [, text = ""] = await attacker.until(/^report (.*)$/m)
  const report: AttackerReport = JSON.parse(text)
  const { asked, failed } = hooks()
  await attacker.ended()
  const after = await mark(cluster.pool)
  const {
    rows: [joined]
  } = await cluster.pool.query<{ n: number }>(
    "select count(*)::int as n from audit.nodes where what = 'join' and writer = $1 and n > $2 and n <= $3",
    [node.name, before.nodes, after.nodes]
  )
  inspected.close()

  await sleep(quietMs)
  // As long as the client: a machine may be slow for some seconds, and both have to meet such seconds.
  const burning: BurnerOptions = { shares: report.shares, seconds }
  const burner = program("burner", JSON.stringify(burning))
  await burner.until(/burning/)
  const burned = performance.now()
  await burner.ended()
  const burnt = performance.now()

  await node.leave()
  await node.start()
  return () => {
    const p99 = (from: number, to: number) => quantile(clients.times(from, to), 0.99)
    const [attack, control] = [p99(attacked, over), p99(burned, burnt)]
    const byStage = (from: number, to: number) =>
      report.shares
        .map((_, n, { length }) => p99(from + ((to - from) * n) / length, from + ((to - from) * (n + 1)) / length))
        .map((ms) => ms?.toFixed(0))
        .join(", ")
    const attempts = Object.values(report.tallies)
      .flatMap((tally) => Object.values(tally))
      .reduce((sum, n) => sum + n, 0)
    return {
      gaps: [],
      observed:
        attempts > 0 && asked > 0
          ? `submit p99 ${attack?.toFixed(0)} ms (by stage ${byStage(attacked, over)}), and ${control?.toFixed(0)} ms beside a process that burns as much (${byStage(burned, burnt)}); ${attempts} attempts in ${Math.round(report.wall / 1_000)} s with ${report.shares.map((share) => Math.round(share * 100)).join(", ")} % of a core (${shortOf(report.tallies)})`
          : undefined,
      figures: [
        {
          name: "times the neighbours' submit p99",
          value: attack === undefined || control === undefined ? undefined : Math.round((attack / control) * 100) / 100,
          bar: 3,
          unit: "" as const
        },
        { name: "event loop p99", value: loopP99, bar: 100, unit: "ms" as const },
        { name: "leases lost", value: joined?.n, bar: 0, unit: "" as const },
        { name: "MiB more after a collection", value: Math.round((held - quiet) / mib), bar: 150, unit: "" as const },
        { name: "neighbours' hooks that failed", value: failed, bar: 0, unit: "" as const },
        { name: `a revoked key's poll (${status}) goes on for`, value: revoked, bar: revokedMs, unit: "ms" as const }
      ]
    }
  }
}

export const hostile: Fault = {
  name: "a hostile client: no key, a key of each scope, all of them",
  bar: "other workspaces' submit p99 ≤ 3 times that beside a process that burns as much CPU, event loop p99 ≤ 100 ms, no lease lost, ≤ 150 MiB more after a collection",
  own: {},
  clients: (cluster, seed) => new Neighbours(cluster, seed, some(cluster.nodes[0]), defaults),
  inject
}
