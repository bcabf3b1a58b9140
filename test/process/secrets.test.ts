/**
 * A secret that a client gives away stays with the server: what a dump, a log, a stream or an answer shows of it is
 * nothing.
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import pg from "pg"
import { type FreshDatabase, freshDatabase } from "../setup/database.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { Child } from "./Child.ts"

const cli = resolve(import.meta.dirname, "../../src/start.mjs")
const newKey = (id: string) => `${id}:${randomBytes(32).toString("base64")}`

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const children: Array<Child> = []
afterEach(async () => {
  for (const child of children.splice(0)) await child.end("SIGKILL")
})

const child = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const started = new Child(process.execPath, [cli, ...args], { env })
  children.push(started)
  return started
}

const serving = (keys: string) => ({
  TROUPE_DATABASE_URL: database.url,
  TROUPE_PORT: "0",
  TROUPE_LEASE_TTL_MS: "500",
  TROUPE_RATE_LIMIT: "0",
  TROUPE_METRICS: "api",
  TROUPE_LOG_FORMAT: "json",
  TROUPE_SCRIPTED_MODELS: "true",
  TROUPE_ALLOW_PRIVATE_NETWORK: "true",
  TROUPE_LOG_LEVEL: "trace",
  TROUPE_ENCRYPTION_KEYS: keys
})

const start = async (keys: string) => {
  const made = child(["keys", "create", "-o", "json"], serving(keys))
  const [, key = ""] = await made.until(/"key":\s*"(trp_\w+)"/)
  await made.ended()
  const server = child(["serve"], serving(keys))
  const [, base = ""] = await server.until(/"url":"(http:[^"]+)"/)
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(base + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    return { status: answer.status, text: [...answer.headers].join("\n") + (await answer.text()) }
  }
  return { server, send, base, key }
}

/** Every row of every table, as text. */
const dump = async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'"
    )
    const texts: Array<string> = []
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from "${name}" t`)
      texts.push(...rows.map(({ row }) => `${name} ${row}`))
    }
    assert.isTrue(
      texts.some((text) => text.startsWith("connections ")) && texts.some((text) => text.startsWith("idempotency "))
    )
    return texts.join("\n")
  } finally {
    await client.end()
  }
}

describe("the secrets of connections", () => {
  it("are in no answer, table, log line or stream, whatever is done with them, well or badly", async () => {
    const { base, key, send, server } = await start(newKey("k1"))
    const canary = `canary${randomBytes(12).toString("hex")}`
    const whsec = `whsec_${Buffer.from(`${canary}-signing`).toString("base64")}`
    const heard: Array<string> = []
    const stream = await fetch(`${base}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` } })
    const reader = stream.body?.getReader()
    const listening = (async () => {
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
        heard.push(Buffer.from(piece.value).toString())
    })()

    const token = { provider: "p", name: "C", secret: { token: canary }, allowedHosts: ["tools.example.com"] }
    const answers = [
      await send("POST", "/v1/connections", token, { "idempotency-key": "once" }),
      await send("POST", "/v1/connections", token, { "idempotency-key": "once" }),
      await send("POST", "/v1/connections", { ...token, name: "D" }, { "idempotency-key": "once" }),
      await send("POST", "/v1/connections", {
        ...token,
        secret: { signingSecret: whsec, previousSigningSecret: whsec }
      })
    ]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [201, 201, 422, 201]
    )
    const [, id = ""] = /"id":"(conn_\w+)"/.exec(answers[0]?.text ?? "") ?? []
    const good = [
      await send("GET", `/v1/connections/${id}`),
      await send("GET", "/v1/connections"),
      await send("PATCH", `/v1/connections/${id}`, { secret: { token: `${canary}-new` } })
    ]
    assert.deepStrictEqual(
      good.map(({ status }) => status),
      [200, 200, 200]
    )
    const bad = [
      { ...token, secret: { token: `${canary} ` } },
      { ...token, secret: { token: canary.repeat(400) } },
      { ...token, secret: canary },
      { ...token, secret: [canary] },
      { ...token, secret: { oauth: { accessToken: canary } } },
      { ...token, secret: { token: canary, apiKey: canary } },
      { ...token, secret: { token: { value: canary } } },
      { ...token, secret: { signingSecret: `whsec_${canary}` } },
      { ...token, secret: { signingSecret: canary } },
      { ...token, secret: { password: canary } },
      { ...token, baseUrl: `https://u:${canary}@a.example` },
      { ...token, baseUrl: `https://a.example/?key=${canary}` },
      { ...token, allowedHosts: [`${canary} `] },
      { ...token, name: 7 },
      JSON.stringify(token).slice(0, -3),
      `${JSON.stringify(token)}x`
    ]
    for (const body of bad) {
      for (const [method, path] of [
        ["POST", "/v1/connections"],
        ["PATCH", `/v1/connections/${id}`]
      ] as const) {
        const answer = await send(method, path, body, { "idempotency-key": randomBytes(4).toString("hex") })
        assert.strictEqual(answer.status, 400, answer.text)
        answers.push(answer)
      }
    }
    answers.push(await send("PATCH", `/v1/connections/${id}`, { secret: { token: canary } }, { "if-match": `"99"` }))
    answers.push(await send("PATCH", "/v1/connections/conn_01m7y1svs7e0087pe32vr71000", { secret: { token: canary } }))
    answers.push(await send("POST", "/v1/agents", { name: canary, profileId: "x" }))

    const [rows, metrics] = [await dump(), await send("GET", "/metrics")]
    assert.strictEqual(await server.end("SIGTERM"), 0)
    await listening
    // What is looked through holds what it should: a leak would be seen.
    assert.isTrue(rows.includes("v1.k1.") && heard.join("").includes("event: ready"))
    assert.include(server.output, "/v1/connections")
    const shown = [...answers, ...good].map(({ text }) => text)
    const forms = [canary, `${canary}-new`].flatMap((text) => [
      text,
      Buffer.from(text).toString("base64").replace(/=+$/, ""),
      Buffer.from(text).toString("base64url"),
      Buffer.from(text).toString("hex")
    ])
    for (const [where, text] of [
      ["answers", shown.join("\n")],
      ["tables", rows],
      ["output", server.output],
      ["stream", heard.join("")],
      ["metrics", metrics.text]
    ] as const) {
      for (const form of [...forms, whsec, whsec.slice(6)]) assert.isFalse(text.includes(form), `${where}: ${form}`)
    }
    // Only the last four are told.
    assert.include(shown.join("\n"), `"last4":"${canary.slice(-4)}"`)
  })

  it("are missed by the doctor when a key of theirs is gone, and open again when it is back", async () => {
    const [one, two] = [newKey("one"), newKey("two")]
    const { send, server } = await start(one)
    assert.strictEqual(
      (
        await send("POST", "/v1/connections", {
          provider: "p",
          name: "C",
          secret: { token: "secret" },
          allowedHosts: ["tools.example.com"]
        })
      ).status,
      201
    )
    const doctor = async (keys: string) => {
      const asked = child(["doctor"], serving(keys))
      await asked.ended()
      return asked.output
    }
    // A node that runs has none of these keys: neither would believe what the other says.
    assert.match(await doctor(two), /bad\s+nodes\s+\S+ runs with other TROUPE_ENCRYPTION_KEYS/)
    assert.notMatch(await doctor(`${one},${two}`), /bad\s+nodes/)
    await server.end("SIGTERM")
    assert.match(await doctor(`${two},${one}`), /ok\s+encryption\s+two encrypts; two, one decrypt/)
    assert.match(
      await doctor(two),
      /bad\s+secrets\s+connections sealed with one cannot be opened \(\d+\).*TROUPE_ENCRYPTION_KEYS/
    )
    assert.match(await doctor(newKey("one")), /bad\s+secrets\s+connections sealed with one/)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query("delete from connections where sealed not like 'v1.one.%'")
    await client.end()
    assert.match(await doctor(`${two},${one}`), /ok\s+secrets\s+can be opened/)
  })

  it("are not looked for by the doctor in the database of a newer version, which it says it is", async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query("insert into kysely_migration (name, timestamp) values ('999_later', '')")
    const asked = child(["doctor"], serving(newKey("one")))
    await asked.ended()
    await client.query("delete from kysely_migration where name = '999_later'")
    await client.end()
    assert.match(asked.output, /bad\s+migrations\s+.*newer version \(999_later\)/)
    assert.notMatch(asked.output, /secrets/)
  })
})

describe("the lease of an agent", () => {
  it("is in no answer, table, log line, stream or event, though it is used, well and badly, and repeated", async () => {
    const { base, key, send, server } = await start(newKey("k1"))
    const leases: Array<string> = []
    const answers: Array<string> = []
    const ask = async (token: string, path: string, method = "GET") => {
      const answer = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}` } })
      answers.push([...answer.headers].join("\n") + (await answer.text()))
      return answer.status
    }
    const statuses: Array<number> = []
    const mcp = await startMcpServer({
      tools: [
        {
          name: "ask",
          inputSchema: { type: "object" },
          run: async (_, { lease, report }) => {
            const token = typeof lease === "object" && lease !== null && "token" in lease ? String(lease.token) : ""
            leases.push(token)
            await report(1, { message: token })
            statuses.push(
              await ask(token, "/v1/auth"),
              await ask(token, "/v1/auth/keys"),
              await ask(`${token}x`, "/v1/auth"),
              await ask(token, `/v1/threads/${token}`)
            )
            return { said: token }
          }
        }
      ]
    })
    const heard: Array<string> = []
    const stream = await fetch(`${base}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` } })
    const reader = stream.body?.getReader()
    const listening = (async () => {
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
        heard.push(Buffer.from(piece.value).toString())
    })()
    const made = async (path: string, body: object) => {
      const answer = await send("POST", path, body)
      assert.strictEqual(answer.status, 201, answer.text)
      answers.push(answer.text)
      return /"id":"((?:tset|prof|agt|thr)_\w+)"/.exec(answer.text)?.[1] ?? ""
    }
    const toolset = await made("/v1/toolsets", { kind: "mcp", namespace: "desk", url: mcp.url, lease: "call" })
    const profileId = await made("/v1/profiles", {
      name: "P",
      models: ["troupe/scripted"],
      toolsetIds: [toolset]
    })
    const agentId = await made("/v1/agents", { name: "A", profileId })
    const threadId = await made("/v1/threads", {
      agentId,
      message: { content: [{ type: "text", text: "/call desk.ask {}\n/call desk.ask {}" }] }
    })
    let log = ""
    for (let from = 0; !log.includes("turn_completed"); from++) {
      assert.isBelow(from, 20, log)
      log = (await send("GET", `/v1/threads/${threadId}/events?waitSeconds=5&afterSeq=${from}`)).text
    }
    log = (await send("GET", `/v1/threads/${threadId}/events`)).text
    const [rows, metrics] = [await dump(), await send("GET", "/metrics")]
    assert.strictEqual(await server.end("SIGTERM"), 0)
    await listening
    await mcp.close()

    assert.deepStrictEqual(statuses, [200, 403, 401, 404, 200, 403, 401, 404])
    assert.lengthOf(
      leases.filter((lease) => /^trl_\w{114}/.test(lease)),
      2
    )
    assert.include(log, "[secret]")
    assert.include(heard.join(""), threadId)
    for (const lease of leases) {
      const forms = [
        lease,
        lease.slice(-43),
        Buffer.from(lease).toString("base64url"),
        Buffer.from(lease).toString("hex")
      ]
      for (const [where, text] of [
        ["answers", answers.join("\n")],
        ["log of the thread", log],
        ["tables", rows],
        ["output", server.output],
        ["stream", heard.join("")],
        ["metrics", metrics.text]
      ] as const) {
        for (const form of forms) assert.isFalse(text.includes(form), where)
      }
    }
  })
})

describe("the encryption key of a development server", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-secrets-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const env = () => ({
    TROUPE_DATA: folder,
    TROUPE_PORT: "0",
    TROUPE_DATABASE_URL: database.url,
    TROUPE_ENCRYPTION_KEYS: "",
    TROUPE_DEV_KEY: "",
    TROUPE_LOG_FORMAT: "json"
  })
  const path = () => join(folder, "encryption-key")
  const started = async () => {
    const server = child(["dev"], env())
    await server.until(/Key\s+\S+dev-key/)
    assert.strictEqual(await server.end("SIGTERM"), 0)
    return server.output
  }

  it("is made once, for its owner alone, and shown nowhere", async () => {
    const output = await started()
    const key = (await readFile(path(), "utf8")).trim()
    assert.strictEqual(Buffer.from(key, "base64").length, 32)
    assert.notInclude(output, key)
    await chmod(path(), 0o644)
    await started()
    assert.strictEqual((await readFile(path(), "utf8")).trim(), key)
    assert.strictEqual((await stat(path())).mode & 0o777, 0o600)
    assert.deepStrictEqual(
      (await readdir(folder)).filter((name) => name.endsWith(".new")),
      []
    )
  })

  it("is never replaced when it is damaged: the start says what to do", async () => {
    await writeFile(path(), "bm90IGEga2V5\n")
    const server = child(["dev"], env())
    assert.strictEqual(await server.ended(), 1)
    assert.match(server.output, /encryption-key holds no key of 32 bytes\. Put the old one back/)
    assert.notInclude(server.output, "bm90IGEga2V5")
    assert.strictEqual(await readFile(path(), "utf8"), "bm90IGEga2V5\n")
    const doctor = child(["doctor", "--mode", "dev"], env())
    await doctor.ended()
    assert.match(doctor.output, /bad\s+encryption .*encryption-key holds no key/)
  })
})
