/** The commands that talk to a server: what they send to whom, and what a hostile one gets a terminal to show. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Console, Effect, Exit, Runtime } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { program } from "../../src/cli/commands.ts"
import { generateKey } from "../../src/keys/keyText.ts"
import { Child } from "./Child.ts"
import { hasScript, onTerminal } from "./script.ts"

const cli = resolve(import.meta.dirname, "../../src/start.mjs")

const hostile = "a\u009b31mb\u202ec\u2066d\u001b]0;e\u0007f\u2069"
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const wait = {
  id: "wait_1",
  type: "hook_ask",
  state: "open",
  target: "person",
  toolName: hostile,
  toolInput: { text: `${"x".repeat(3_000)}${hostile}`, last: "character" }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string
  readonly body: string
}

describe("a command", () => {
  let folder: string
  let server: Server
  let port: number
  let asked: Array<Asked> = []
  /** Undefined: the connection breaks. */
  let answers: (asked: Asked) => { readonly status: number; readonly body: unknown } | undefined
  const kept = generateKey().key

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-terminal-"))
    await writeFile(join(folder, "dev-key"), `${kept}\n`, { mode: 0o600 })
    server = createServer((incoming, outgoing) => {
      let body = ""
      incoming
        .on("data", (bytes: Buffer) => {
          body += bytes.toString()
        })
        .on("end", () => {
          const one = {
            method: incoming.method ?? "",
            path: incoming.url ?? "",
            authorization: incoming.headers.authorization ?? "",
            body
          }
          asked.push(one)
          const answer = answers(one)
          if (answer === undefined) return void outgoing.destroy()
          const { body: said, status } = answer
          outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said))
        })
    })
    port = await new Promise<number>((found) =>
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        found(typeof address === "object" && address !== null ? address.port : 0)
      })
    )
  })
  afterAll(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    asked = []
    answers = () => ({ status: 200, body: { threads: [] } })
  })

  const environment = (more: Readonly<Record<string, string>> = {}) => ({
    TROUPE_DATA: folder,
    TROUPE_URL: `http://127.0.0.1:${port}`,
    TROUPE_KEY: "",
    TROUPE_DEV_KEY: "",
    ...more
  })
  /** In a process of its own. */
  const started = async (args: ReadonlyArray<string>) => {
    const child = new Child(process.execPath, [cli, ...args], { env: environment() })
    return { code: await child.ended(), output: child.output }
  }
  /** The same command in this process, which is no terminal: in a fiftieth of the time. */
  const run = async (args: ReadonlyArray<string>, more?: Readonly<Record<string, string>>) => {
    const lines: Array<string> = []
    const write = (...parts: ReadonlyArray<unknown>) => void lines.push(`${parts.join(" ")}\n`)
    const exit = await program(args).pipe(
      Effect.provideService(Console.Console, { ...console, log: write, error: write }),
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment(more)))),
      Effect.provide(NodeServices.layer),
      Effect.runPromiseExit
    )
    return {
      code: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)),
      output: lines.join("")
    }
  }

  describe("with the development server's key", () => {
    it.each(["127.0.0.1", "localhost", "127.0.0.1:PORT/"])("asks this machine itself: %s", async (host) => {
      const url = `http://${host.includes("PORT") ? host.replace("PORT", String(port)) : `${host}:${port}`}`
      const { code, output } = await run(["threads", "list"], { TROUPE_URL: url })
      assert.strictEqual(code, 0, output)
      assert.deepStrictEqual(
        asked.map(({ authorization }) => authorization),
        [`Bearer ${kept}`]
      )
    })

    it.each([
      ["dev-key", ""],
      ["TROUPE_DEV_KEY", kept]
    ])("sends it nowhere else, and says what to do (%s)", async (_, given) => {
      // This machine too, by an address that is no loopback address: what is sent there would be seen here.
      const { code, output } = await run(["threads", "list"], {
        TROUPE_URL: `http://0.0.0.0:${port}`,
        TROUPE_DEV_KEY: given
      })
      assert.strictEqual(code, 1)
      assert.match(
        output,
        new RegExp(
          `Set TROUPE_KEY to an API key of 0\\.0\\.0\\.0:${port}: the development server's key is sent to this machine only`
        )
      )
      assert.notInclude(output, kept)
      assert.deepStrictEqual(asked, [])
    })

    it("is not fooled by names that look like this machine's", async () => {
      for (const url of [
        `http://127.0.0.1@0.0.0.0:${port}`,
        `http://localhost:80@0.0.0.0:${port}`,
        `http://127.0.0.1.example:${port}`,
        `http://localhost.example:${port}`
      ]) {
        assert.match((await run(["threads", "list"], { TROUPE_URL: url })).output, /is sent to this machine only/, url)
      }
      assert.deepStrictEqual(asked, [])
    })
  })

  it("with a key of its own asks any server", async () => {
    assert.strictEqual(
      (await run(["threads", "list"], { TROUPE_URL: `http://0.0.0.0:${port}`, TROUPE_KEY: "mine" })).code,
      0
    )
    assert.deepStrictEqual(
      asked.map(({ authorization }) => authorization),
      ["Bearer mine"]
    )
  })

  it("that follows a thread goes on after an outage where it was, and shows nothing twice", async () => {
    const said = (seq: number, type: string) => ({ seq, turnId: "trn_1", type, occurredAt: "2026-01-01T00:00:00.000Z" })
    const turns = [
      { status: 200, body: { events: [said(1, "user_message")] } },
      undefined,
      { status: 503, body: { error: "unavailable", message: "away" } },
      { status: 200, body: { events: [said(2, "turn_completed")] } }
    ]
    answers = () => turns.shift()
    const { code, output } = await run(["tail", "thr_1", "--once"], { TROUPE_KEY: "mine" })
    assert.strictEqual(code, 0, output)
    assert.deepStrictEqual(
      asked.map(({ path }) => new URL(path, "http://x").searchParams.get("afterSeq")),
      ["0", "1", "1", "1"]
    )
    assert.deepStrictEqual(
      output
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/ +/)[2]),
      ["user_message", "turn_completed"]
    )
  })

  describe("of a server that is hostile", () => {
    const event = {
      seq: 1,
      turnId: "trn_1",
      type: hostile,
      occurredAt: `2026-01-01T${hostile}`,
      content: [{ type: "text", text: hostile }]
    }
    const ended = { seq: 2, turnId: "trn_1", type: "turn_completed", occurredAt: "2026-01-01T00:00:00.000Z" }
    const commands: ReadonlyArray<readonly [string, ReadonlyArray<string>, () => unknown]> = [
      [
        "tail",
        ["tail", "thr_1", "--once"],
        () => ({
          events: [
            event,
            { ...event, type: "user_message" },
            { ...event, type: "tool_intent", toolName: hostile, toolInput: hostile },
            ended
          ]
        })
      ],
      [
        "threads list",
        ["threads", "list"],
        () => ({
          threads: [{ thread: { id: hostile, title: hostile }, status: hostile, lastSeq: 1, updatedAt: hostile }]
        })
      ],
      [
        "threads get",
        ["threads", "get", "thr_1"],
        () => ({ thread: { id: hostile, agentId: hostile, title: hostile }, status: hostile, model: hostile })
      ],
      ["send", ["send", "hello"], () => ({ thread: { id: hostile }, input: { id: hostile, state: hostile } })],
      ["waits", ["waits"], () => ({ threads: [{ thread: { id: "thr_1" }, pendingWaits: [wait] }] })],
      [
        "approve",
        ["approve", "thr_1", "wait_1", "--yes"],
        () => ({ wait: { ...wait, waitResult: { outcome: hostile } }, seq: 3 })
      ]
    ]
    const both = commands.flatMap(([name, args, body]) => [
      [name, args, body] as const,
      [`${name} -o json`, [...args, "-o", "json"], body] as const
    ])

    it.each(both)("shows nothing that a terminal obeys or turns round: %s", async (_, args, body) => {
      answers = () => ({ status: 200, body: body() })
      const { code, output } = await run(args)
      assert.strictEqual(code, 0, output)
      assert.match(output, /\\u009b/)
      assert.match(output, /\\u202e/)
      assert.notMatch(output, raw)
    })

    it.each(["shown", "shown by a process of its own"])(
      "has the words of its refusals %s in the same way",
      async (where) => {
        answers = () => ({ status: 418, body: { error: hostile, code: hostile, message: hostile } })
        const { code, output } = await (where === "shown" ? run : started)(["threads", "list"])
        assert.strictEqual(code, 1)
        assert.match(output, /418 a\\u009b31mb\\u202ec/)
        assert.notMatch(output.replaceAll(/\u001b\[[\d;]*m/g, ""), raw)
      }
    )

    it("cannot make a line of a text look like another event", async () => {
      answers = () => ({
        status: 200,
        body: {
          events: [
            {
              ...event,
              type: "user_message",
              content: [{ type: "text", text: "hello\n    2  00:00:00.000  turn_completed" }]
            },
            ended
          ]
        }
      })
      const { output } = await run(["tail", "thr_1", "--once"])
      assert.strictEqual(
        output.split("\n").filter((line) => /^[ \d]{4}\d {2}\S+ {2}turn_completed/.test(line)).length,
        1,
        output
      )
    })
  })

  describe("that approves", () => {
    beforeEach(() => {
      answers = ({ method }) => ({
        status: 200,
        body: method === "GET" ? { wait } : { wait: { ...wait, waitResult: { outcome: "allow" } }, seq: 3 }
      })
    })

    it("wants --yes where nobody can be asked, and sends nothing without", async () => {
      const { code, output } = await run(["approve", "thr_1", "wait_1"])
      assert.strictEqual(code, 1)
      assert.match(output, /give --yes/)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual((await run(["approve", "thr_1", "wait_1", "--yes"])).code, 0)
      assert.deepStrictEqual(
        asked.map(({ body, method, path }) => [method, path, JSON.parse(body)]),
        [["POST", "/v1/threads/thr_1/waits/wait_1/resolve", { type: "decision", decision: "allow" }]]
      )
    })

    /** On a terminal of its own: what it shows, once the question was answered. */
    const answered = async (typed: string) => {
      const child = onTerminal(`'${process.execPath}' '${cli}' approve thr_1 wait_1`, { env: environment() })
      await child.until(/\[y\/N\]/)
      child.process.stdin?.write(typed)
      return { code: await child.ended(), output: child.output }
    }

    it.skipIf(!hasScript)(
      "shows the whole input on a terminal, asks, and sends a yes (needs script of util-linux)",
      async () => {
        const { code, output } = await answered("y\r")
        assert.strictEqual(code, 0, output)
        assert.include(output.replaceAll(/\s/g, ""), `${"x".repeat(3_000)}a\\u009b31mb\\u202ec`)
        assert.include(output, `"last": "character"`)
        assert.notMatch(output.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, ""), /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/)
        assert.deepStrictEqual(
          asked.map(({ method }) => method),
          ["GET", "POST"]
        )
      }
    )

    it.skipIf(!hasScript).each(["n\r", "\r", "\u0004", "maybe\r"])(
      "takes nothing else for a yes: %j (needs script of util-linux)",
      async (typed) => {
        const { code, output } = await answered(typed)
        assert.strictEqual(code, 1, output)
        assert.match(output, /Nothing was decided/)
        assert.deepStrictEqual(
          asked.map(({ method }) => method),
          ["GET"]
        )
      }
    )
  })
})
