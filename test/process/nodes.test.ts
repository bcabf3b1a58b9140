/** `troupe dev --nodes 3`: a cluster on this machine, its parts killed one after the other, and left in order. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { demoAgent } from "../../src/domain/demo.ts"
import { Watcher } from "../http/sse.ts"
import { requireNats } from "../setup/nats.ts"
import { eventually } from "../waiting.ts"
import { Child } from "./Child.ts"
import { devKeyOf } from "./devKey.ts"

const project = resolve(import.meta.dirname, "..", "..")
const cli = join(project, "src", "start.mjs")

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("a cluster on one machine", () => {
  let folder: string
  let cluster: Child
  let key: string
  let bases: ReadonlyArray<string>

  const environment = () => ({
    TROUPE_DATA: folder,
    TROUPE_PORT: "0",
    TROUPE_DATABASE_URL: "",
    TROUPE_NATS_URL: "",
    TROUPE_DEV_KEY: "",
    TROUPE_LOG_FORMAT: "json",
    TROUPE_LEASE_TTL_MS: "3000"
  })
  const start = async () => {
    cluster = new Child(process.execPath, [cli, "dev", "--nodes", "3"], { cwd: project, env: environment() })
    const [, list = ""] = await cluster.until(/API +((?:http:\S+\s+){3})Reference/)
    bases = list.trim().split(/\s+/)
    key = await devKeyOf(cluster)
    await cluster.until(/^curl .*\n/m)
  }
  const call = async (node: number, method: string, path: string, body?: unknown) => {
    const response = await fetch(bases[node] + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const busOf = (node: number) =>
    call(node, "GET", "/readyz").then(
      ({ body, status }) => (status === 200 ? body.bus : undefined),
      () => undefined
    )
  const allConnected = () =>
    eventually(
      async () => (await Promise.all([0, 1, 2].map(busOf))).every((bus) => bus === "connected"),
      "not all nodes are connected"
    )
  /** Pids of a node's lives, one after the other. */
  const lives = (node: number) =>
    [...cluster.output.matchAll(new RegExp(`^node${node + 1} │ .*"message":"serving".*"pid":(\\d+)`, "gm"))].map(
      ([, pid]) => Number(pid)
    )
  const pidOf = async (node: number, life = 0) => {
    await eventually(() => lives(node).length > life, `node${node + 1} does not say that it serves`)
    return lives(node).at(-1) ?? 0
  }
  const natsPid = async () => Number(await readFile(join(folder, "nats.pid"), "utf8"))

  beforeAll(async () => {
    requireNats()
    folder = await mkdtemp(join(tmpdir(), "troupe-nodes-"))
    await start()
  }, 120_000)
  afterAll(async () => {
    await cluster.end("SIGKILL")
    await rm(folder, { recursive: true, force: true })
  })

  it("is three nodes on one database, connected to each other, every line of theirs with their name", async () => {
    assert.strictEqual(new Set(bases).size, 3)
    await allConnected()
    const { body: told } = await call(1, "GET", "/readyz")
    assert.deepStrictEqual(told, { status: "ready", bus: "connected" })
    for (const node of [0, 1, 2]) assert.isTrue(isAlive(await pidOf(node)))
    const { body } = await call(0, "POST", "/v1/threads", { agentId: demoAgent })
    for (const node of [0, 1, 2])
      assert.strictEqual((await call(node, "GET", `/v1/threads/${body.thread.id}`)).status, 200)
    assert.notMatch(cluster.output, /trp_[0-9A-Za-z]{8}_[0-9A-Za-z]/)
    assert.strictEqual((await stat(join(folder, "nats.conf"))).mode & 0o777, 0o600)
  })

  it("streams on each node what runs on another", async () => {
    const { body } = await call(0, "POST", "/v1/threads", { agentId: demoAgent })
    const path = `/v1/threads/${body.thread.id}/events/stream?deltas=text`
    const watchers = await Promise.all(bases.map((base) => Watcher.open(base, path, key)))
    for (const watcher of watchers) await watcher.until(({ frames }) => frames.length === 1)
    const since = performance.now()
    await call(0, "POST", `/v1/threads/${body.thread.id}/messages`, {
      content: [{ type: "text", text: "/chunks 5 20ms\n/say one two three four five" }]
    })
    for (const watcher of watchers)
      await watcher.until((watcher) => watcher.events("event").some(({ data }) => data.type === "turn_completed"))
    // By hints: the next look at the log would come after 15 s.
    assert.isBelow(performance.now() - since, 5_000)
    for (const watcher of watchers) {
      assert.deepStrictEqual(
        watcher.events("event").map(({ data }) => data.seq),
        [1, 2, 3]
      )
      assert.strictEqual(
        watcher
          .events("delta")
          .map(({ data }) => data.text)
          .join(""),
        "one two three four five"
      )
      watcher.close()
    }
  })

  it("starts a node that was killed again, under its name and on its port", async () => {
    process.kill(await pidOf(1), "SIGKILL")
    await cluster.until(/^node2 ended \(SIGKILL\); it is started again$/m)
    await cluster.until(/^node2 is up again$/m)
    await allConnected()
    assert.isTrue(isAlive(await pidOf(1, 1)))
  })

  it("goes on without NATS, says so, and starts it again", async () => {
    const { body } = await call(2, "POST", "/v1/threads", { agentId: demoAgent })
    const watcher = await Watcher.open(bases[0]!, `/v1/agents/${demoAgent}/events/stream`, key)
    await watcher.until(({ frames }) => frames.length === 1)
    process.kill(await natsPid(), "SIGSTOP")
    // It is gone as soon as pings say so.
    await eventually(async () => (await busOf(2)) === "disconnected", "nobody noticed")
    const told = await call(2, "GET", "/readyz")
    assert.deepStrictEqual([told.status, told.body], [200, { status: "degraded", bus: "disconnected" }])
    const sent = await call(2, "POST", `/v1/threads/${body.thread.id}/messages`, {
      content: [{ type: "text", text: "without" }]
    })
    assert.strictEqual(sent.status, 201)
    process.kill(await natsPid(), "SIGKILL")
    await cluster.until(/^nats {2}ended \(SIGKILL\); it is started again$/m)
    await allConnected()
    await watcher.until((watcher) => watcher.events("gap").length > 0)
    watcher.close()
  })

  it("leaves no node running when it is killed itself, and comes back with its threads", async () => {
    const pids = await Promise.all([0, 1, 2].map((node) => pidOf(node)))
    const nats = await natsPid()
    await cluster.end("SIGKILL")
    await eventually(() => pids.every((pid) => !isAlive(pid)), "a node runs on")
    // What is left of PostgreSQL and NATS is taken over, or ended, by the next start.
    await start()
    assert.isFalse(isAlive(nats))
    const { body } = await call(1, "GET", "/v1/threads")
    assert.isAtLeast(body.threads.length, 3)
  })

  it("leaves in order on SIGTERM", async () => {
    const pids = [...(await Promise.all([0, 1, 2].map((node) => pidOf(node)))), await natsPid()]
    assert.strictEqual(await cluster.end("SIGTERM"), 0)
    assert.deepStrictEqual(
      pids.map(isAlive),
      pids.map(() => false)
    )
    for (const node of [1, 2, 3]) assert.match(cluster.output, new RegExp(`^node${node} │ .*"message":"draining"`, "m"))
  })
})

describe("a cluster that cannot be", () => {
  const fails = async ([command = "dev", ...args]: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-nodes-"))
    try {
      const child = new Child(process.execPath, [cli, command, ...args], {
        cwd: project,
        env: { TROUPE_DATA: folder, TROUPE_PORT: "0", TROUPE_DATABASE_URL: "", TROUPE_NATS_URL: "", ...env }
      })
      assert.strictEqual(await child.ended(), 1)
      return child.output
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it("says how to get a nats-server", async () => {
    const output = await fails(["dev", "--nodes", "2"], { PATH: "/nowhere" })
    assert.match(output, /nats-server is not on PATH/)
    for (const part of ["apt-get install nats-server", "brew install nats-server", "TROUPE_NATS_URL"])
      assert.include(output, part)
  })

  it("says how many nodes it may have", async () => {
    for (const output of await Promise.all(["0", "10"].map((nodes) => fails(["dev", "--nodes", nodes], {}))))
      assert.match(output, /from 1 to 9/)
  })

  it("stops as a whole when a node does not come up", async () => {
    const output = await fails(["dev", "--nodes", "2"], { TROUPE_MODELS: "/nowhere/models.json" })
    assert.match(output, /node\d does not stay up \(exit code 1\)/)
    assert.match(output, /node\d │ .*models\.json/)
  })

  it("is known to the doctor when NATS does not answer", async () => {
    assert.match(
      await fails(["doctor"], { TROUPE_NATS_URL: "nats://ann:hunter2@127.0.0.1:1" }),
      /bad\s+nats\s+127\.0\.0\.1:1: connection refused/
    )
  })
})
