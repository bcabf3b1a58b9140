/** What a newcomer does: starts the server, pastes the line that it prints, looks at the thread. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { farewell } from "../../src/cli/farewell.ts"
import { Child } from "./Child.ts"
import { devKeyOf } from "./devKey.ts"
import { processesOf, untilNoneOf } from "./processesOf.ts"
import { hasScript, onTerminal } from "./script.ts"

const run = promisify(execFile)
const project = resolve(import.meta.dirname, "..", "..")
const cli = join(project, "src", "start.mjs")
const hasCurl = (() => {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

describe("the development server", () => {
  let folder: string
  let server: Child
  let base: string
  let key: string

  const environment = () => ({
    TROUPE_DATA: folder,
    TROUPE_PORT: "0",
    TROUPE_DATABASE_URL: "",
    TROUPE_DEV_KEY: "",
    TROUPE_LOG_FORMAT: "json"
  })
  const start = async () => {
    server = new Child(process.execPath, [cli, "dev"], { cwd: project, env: environment() })
    base = (await server.until(/API\s+(http:\S+)/))[1] ?? ""
    key = await devKeyOf(server)
    await server.until(/^curl .*\n/m)
  }
  const troupe = async (...args: ReadonlyArray<string>) => {
    const { stdout } = await run(process.execPath, [cli, ...args], {
      cwd: project,
      env: { ...process.env, ...environment(), TROUPE_URL: base, TROUPE_KEY: key }
    })
    return stdout
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-dev-"))
    await start()
  })
  afterAll(async () => {
    await server.end()
    for (const { pid } of await processesOf(folder)) process.kill(pid, "SIGKILL")
    await rm(folder, { recursive: true, force: true })
  })

  it("listens on the loopback interface and keeps its key for its owner alone", async () => {
    assert.match(base, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.strictEqual((await stat(join(folder, "dev-key"))).mode & 0o777, 0o600)
    // Its output is a pipe here, and may be a file that others read.
    assert.notMatch(server.output, /trp_[0-9A-Za-z]{8}_[0-9A-Za-z]/)
    // As root, the user postgres has to pass.
    assert.strictEqual((await stat(folder)).mode & 0o777, process.getuid?.() === 0 ? 0o710 : 0o700)
  })

  it.skipIf(!hasCurl)("prints two lines that work as pasted, and end with the agent's words (needs curl)", async () => {
    const [lines] = await server.until(/^answer=.*\ncurl .*$/m)
    const { stdout } = await run("sh", ["-c", lines])
    const [first = "", ...words] = stdout.trim().split("\n")
    const { thread } = JSON.parse(first)
    assert.deepStrictEqual(words, [`"text":"You said: Hello, Troupe"`])
    assert.match(thread.id, /^thr_/)
    // Refused, they say so too.
    const refused = await run("sh", ["-c", lines.replaceAll("Bearer ", "Bearer x")])
    assert.match(refused.stdout, /^\{"error":"unauthenticated",.*\}\nno answer: the line above may say why\n$/)
    const log = await troupe("tail", thread.id, "--once", "-o", "json")
    const types = log
      .trim()
      .split("\n")
      .map((event) => JSON.parse(event).type)
    assert.deepStrictEqual(types, ["user_message", "assistant_message", "turn_completed"])
  })

  it("is driven by its own commands", async () => {
    const sent = await troupe("send", "Hello from the terminal", "--follow")
    assert.match(sent, /user_message\s+Hello from the terminal/)
    assert.match(sent, /assistant_message\s+You said: Hello from the terminal/)
    const { threads } = JSON.parse(await troupe("threads", "list", "-o", "json"))
    assert.isAtLeast(threads.length, 1)
    assert.match(await troupe("threads", "get", threads[0].thread.id), /status\s+idle/)
    assert.strictEqual((await troupe("waits")).trim(), "none")
  })

  it("answers a mistyped thread with the server's own words and exit code 1", async () => {
    const failed = await troupe("threads", "get", "thr_nothing").then(
      () => undefined,
      (error: { code: number; stderr: string }) => error
    )
    assert.strictEqual(failed?.code, 1)
    assert.match(failed?.stderr ?? "", /^\s*ERROR\n\s+4\d\d /)
  })

  it("lets an operator make another key while it runs", async () => {
    const { id, key: made } = JSON.parse(
      await troupe("keys", "create", "--name", "second", "--scopes", "read", "-o", "json")
    )
    assert.match(id, /^key_/)
    const answer = await fetch(`${base}/v1/auth`, { headers: { authorization: `Bearer ${made}` } })
    assert.strictEqual(answer.status, 200)
    assert.match(await answer.text(), /"scopes":\["read"\]/)
  })

  it("tells a second server on its folder to stay away", async () => {
    const second = new Child(process.execPath, [cli, "dev"], { cwd: project, env: environment() })
    assert.strictEqual(await second.ended(), 1)
    assert.match(second.output, /another server \(pid \d+\) uses this data folder/)
  })

  it("ends with exit code 0 on SIGTERM, and comes back with the same key and threads", async () => {
    const before = key
    assert.strictEqual(await server.end("SIGTERM"), 0)
    await start()
    assert.strictEqual(key, before)
    const { threads } = JSON.parse(await troupe("threads", "list", "-o", "json"))
    assert.isAtLeast(threads.length, 1)
  })

  it("takes all signals of two seconds for one, and a later one for an order to leave at once, with its PostgreSQL", async () => {
    await troupe("send", "/wait 60s")
    const first = performance.now()
    const again = setInterval(() => server.process.kill("SIGINT"), 20)
    server.process.kill("SIGINT")
    const code = await server.ended().finally(() => clearInterval(again))
    const ms = performance.now() - first
    assert.strictEqual(code, 130, server.output)
    assert.isAtLeast(ms, 2_000)
    assert.isBelow(ms, 4_000)
    await untilNoneOf(folder, 5_000)
  })

  /** As a person starts it, with output for a person. */
  const npmStart = async (more: Readonly<Record<string, string>> = {}) => {
    const terminal = onTerminal("npm start", {
      cwd: project,
      env: { ...environment(), TROUPE_LOG_FORMAT: "", ...more }
    })
    base = (await terminal.until(/API\s+(http:\S+)/))[1] ?? ""
    await terminal.until(/^curl /m)
    assert.isNotEmpty(await processesOf(folder))
    return terminal
  }

  it.skipIf(!hasScript)(
    "started by npm in a terminal, leaves nothing behind five seconds after a Ctrl-C, and says what is left to do (needs script of util-linux)",
    async () => {
      // Whether the turn that was left at once has been taken up again by now is chance.
      const terminal = await npmStart({ TROUPE_DRAIN_SECONDS: "3" })
      terminal.process.stdin?.write("\u0003")
      await untilNoneOf(folder, 5_000)
      await terminal.ended()
      assert.match(terminal.output, /\^C/)
      assert.match(terminal.output, /^stopped; 1 turn goes on at the next start\r$/m)
    }
  )

  it.skipIf(!hasScript)(
    "started by npm in a terminal that is closed, drains, and takes its PostgreSQL along (needs script of util-linux)",
    async () => {
      const terminal = await npmStart({ TROUPE_DRAIN_SECONDS: "4" })
      await troupe("send", "/wait 60s")
      // With script ends the terminal that it made.
      terminal.process.kill("SIGKILL")
      // Beyond the moment when a person would be told what is waited for.
      assert.isAtLeast(await untilNoneOf(folder, 8_000), 2_000)
      // Given back in order: the last thing of all.
      assert.isFalse(
        await stat(join(folder, "server.pid")).then(
          () => true,
          () => false
        )
      )
    }
  )

  it("counts in its last words", () => {
    assert.deepStrictEqual([0, 1, 2].map(farewell), [
      "stopped",
      "stopped; 1 turn goes on at the next start",
      "stopped; 2 turns go on at the next start"
    ])
  })
})

describe("the command line", () => {
  const fails = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
    const child = new Child(process.execPath, [cli, ...args], { cwd: project, env })
    assert.strictEqual(await child.ended(), 1)
    return child.output
  }

  it("says every problem of the environment, and what to do", async () => {
    const output = await fails(["serve"], { TROUPE_DATABASE_URL: "", TROUPE_ENCRYPTION_KEYS: "", TROUPE_PORT: "http" })
    assert.match(output, /TROUPE_DATABASE_URL is missing/)
    assert.match(output, /TROUPE_ENCRYPTION_KEYS is missing/)
    assert.match(output, /TROUPE_PORT is "http"/)
  })

  it("says that the database does not answer", async () => {
    const key = Buffer.alloc(32, 1).toString("base64")
    const output = await fails(["serve"], {
      TROUPE_DATABASE_URL: "postgres://u:secret@127.0.0.1:1/troupe",
      TROUPE_ENCRYPTION_KEYS: `k:${key}`,
      TROUPE_PORT: "0"
    })
    assert.match(output, /The database does not answer/)
    assert.notMatch(output, /secret/)
  })

  it("says what a doctor finds wrong", async () => {
    const output = await fails(["doctor"], { TROUPE_DATABASE_URL: "", TROUPE_DATA: "/dev/null/data", TROUPE_PORT: "0" })
    assert.match(output, /bad\s+data .*TROUPE_DATA/)
    assert.match(output, /ok\s+port/)
  })
})
