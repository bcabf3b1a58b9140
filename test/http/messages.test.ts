import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { afterAll, beforeAll } from "vitest"
import { InputRecord, SubmittedMessage } from "../../src/threads/messageInput.ts"
import { QueuedMessage } from "../../src/domain/thread.ts"
import { type Client, sharedServer, type TestServer } from "../setup/server.ts"
import { raw } from "./client.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

let server: TestServer
let alpha: Client
let agentId: string
let quiet: string
let busy: string
beforeAll(async () => {
  server = await sharedServer()
  alpha = server.alpha
  agentId = await makeAgent(alpha)
  quiet = await makeThread(alpha, agentId)
  busy = await makeThread(alpha, agentId)
  await submit(alpha, busy, "/wait 600s\nbusy")
})
afterAll(() => server.stop())

const decodeSubmitted = Schema.decodeUnknownSync(SubmittedMessage, { onExcessProperty: "error" })
const decodeRecord = Schema.decodeUnknownSync(InputRecord, { onExcessProperty: "error" })
const decodeQueued = Schema.decodeUnknownSync(QueuedMessage, { onExcessProperty: "error" })
const send = (threadId: string, body: unknown, headers?: Record<string, string>) =>
  alpha.post(`/v1/threads/${threadId}/messages`, body, headers)
const lastSeqOf = async (threadId: string) => (await alpha.get(`/v1/threads/${threadId}`)).body.lastSeq
const image = (digit: string) => ({ type: "image", imageId: `img_${digit.repeat(64).slice(0, 64)}` })

describe("submitting a message", () => {
  it("serialises its content once, for its row and its answer", async () => {
    const threadId = await makeThread(alpha, agentId)
    const words = "told to many, written once"
    const body = JSON.stringify({ content: text(words) })
    const { stringify } = JSON
    const written: Array<string> = []
    JSON.stringify = (...args: ReadonlyArray<unknown>) => {
      const out = Reflect.apply(stringify, JSON, args)
      if (typeof out === "string" && out.includes(`"text":"${words}"`)) written.push(out)
      return out
    }
    try {
      const answer = await send(threadId, body)
      assert.deepStrictEqual(answer.body.content, text(words))
    } finally {
      JSON.stringify = stringify
    }
    assert.deepStrictEqual(written, [stringify(text(words))])
    const { body: page } = await alpha.get(`/v1/threads/${threadId}/events?order=asc&limit=1`)
    assert.deepStrictEqual(page.events[0].content, text(words))
  })

  it("to a thread at rest is admitted at once, with its seq, whatever the mode", async () => {
    for (const mode of [undefined, "queue", "steer", "interrupt"] as const) {
      const threadId = await makeThread(alpha, agentId)
      const answer = await send(threadId, { content: text("hello"), ...(mode === undefined ? {} : { mode }) })
      assert.strictEqual(answer.status, 201, answer.text)
      const input = decodeSubmitted(answer.body)
      assert.deepInclude(input, { state: "admitted", seq: 1, submitMode: mode ?? "queue", content: text("hello") })
      assert.strictEqual(input.turnId, input.id.replace("inp_", "trn_"))
      assert.strictEqual(answer.headers.get("location"), `/v1/threads/${threadId}/queue/${input.id}`)
      const log = await logOf(alpha, threadId, ended(1))
      assert.deepInclude(
        { ...log[0] },
        { submitMode: mode ?? "queue", inputId: input.id, turnId: input.turnId, principal: input.principal }
      )
    }
  })

  it("keeps text to the character: null, lone surrogates, controls, every plane", async () => {
    const words = '\u0000 \ud800 \udc00 \u001f \u007f \u2028 \ufeff \ufffe é 🎈 \r\n\t "\\/ <script>'
    const threadId = await makeThread(alpha, agentId)
    const answer = await send(threadId, { content: text(words) })
    assert.strictEqual(answer.status, 201, answer.text)
    assert.deepStrictEqual(answer.body.content, text(words))
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(log[0]!.content, text(words))
    assert.deepStrictEqual(
      (await alpha.get(`/v1/threads/${threadId}/queue/${answer.body.id}`)).body.content,
      text(words)
    )
    const queued = await send(busy, { content: text(words) })
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${busy}/queue/${queued.body.id}`)).body.content, text(words))
    await alpha.delete(`/v1/threads/${busy}/queue/${queued.body.id}`)
  })

  const edges: ReadonlyArray<readonly [string, unknown]> = [
    ["40 blocks", Array.from({ length: 40 }, () => ({ type: "text", text: "a" }))],
    ["8 KiB of text in one block", text("a".repeat(8192))],
    [
      "8 KiB of text in two blocks of letters of four bytes",
      [
        { type: "text", text: "🎈".repeat(1024) },
        { type: "text", text: "🎈".repeat(1024) }
      ]
    ],
    ["one character", text("a")],
    ["text that is blank but for one character", text(" \n\u00a0x\u3000")]
  ]
  for (const [what, content] of edges) {
    it(`takes ${what}`, async () => {
      const threadId = await makeThread(alpha, agentId)
      const answer = await send(threadId, { content })
      assert.strictEqual(answer.status, 201, answer.text.slice(0, 300))
      assert.deepStrictEqual(answer.body.content, content)
    })
  }

  const past: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no content", {}, "content"],
    ["content that is a string", { content: "hello" }, "content"],
    ["content that is null", { content: null }, "content"],
    ["no blocks", { content: [] }, "content"],
    ["41 blocks", { content: Array.from({ length: 41 }, () => ({ type: "text", text: "a" })) }, "content"],
    ["8 KiB and one byte of text", { content: text("a".repeat(8193)) }, "content"],
    ["8 KiB and one byte in several blocks", { content: [...text("a".repeat(8192)), ...text("b")] }, "content"],
    ["2731 letters of three bytes", { content: text("€".repeat(2731)) }, "content"],
    ["an empty text", { content: text("") }, "content[0].text"],
    ["a blank text", { content: [...text("a"), ...text(" \n\t\u00a0\u3000")] }, "content[1].text"],
    ["a text that is a number", { content: [{ type: "text", text: 5 }] }, "content[0].text"],
    ["a block without text", { content: [{ type: "text" }] }, "content[0].text"],
    ["a block with another field", { content: [{ type: "text", text: "a", bold: true }] }, "content[0].bold"],
    ["a block of another type", { content: [{ type: "video", url: "x" }] }, "content[0]"],
    ["a block without type", { content: [{ text: "a" }] }, "content[0]"],
    ["a block that is null", { content: [null] }, "content[0]"],
    ["an image id of another form", { content: [{ type: "image", imageId: "img_1" }] }, "content[0].imageId"],
    ["an image id in capitals", { content: [image("A")] }, "content[0].imageId"],
    ["21 images", { content: Array.from({ length: 21 }, (_, i) => image((i + 16).toString(16))) }, "content"],
    ["an image twice", { content: [image("a"), image("a")] }, "content"],
    ["another mode", { content: text("x"), mode: "Queue" }, "mode"],
    ["a mode that is null", { content: text("x"), mode: null }, "mode"],
    ["a model that is no selector", { content: text("x"), model: "gpt" }, "model"],
    ["a model of 513 characters", { content: text("x"), model: `a/${"m".repeat(511)}` }, "model"],
    ["a turn id of another form", { content: text("x"), expectedTurnId: "trn_1" }, "expectedTurnId"],
    ["an unknown field", { content: text("x"), contents: [] }, "contents"],
    [
      "an origin with a field too many",
      { content: text("x"), origin: { provider: "slack", tenantId: "T", senderId: "S", role: "admin" } },
      "origin.role"
    ],
    [
      "an origin of another provider",
      { content: text("x"), origin: { provider: "irc", tenantId: "T", senderId: "S" } },
      "origin.provider"
    ],
    [
      "an origin without a sender",
      { content: text("x"), origin: { provider: "slack", tenantId: "T" } },
      "origin.senderId"
    ],
    [
      "an origin with a text of 513 bytes",
      { content: text("x"), origin: { provider: "slack", tenantId: "T", senderId: "€".repeat(171) } },
      "origin.senderId"
    ]
  ]
  for (const [what, body, path] of past) {
    it(`refuses ${what}, says where, and writes nothing`, async () => {
      assertInvalid(await send(quiet, body), path)
      assert.strictEqual(await lastSeqOf(quiet), 0)
    })
  }

  it("refuses images that are not the agent's; twenty are not too many", async () => {
    assertRefused(await send(quiet, { content: [...text("look"), image("a")] }), 422, "image_not_found")
    const twenty = Array.from({ length: 20 }, (_, i) => image((i + 16).toString(16)))
    assertRefused(await send(quiet, { content: twenty }), 422, "image_not_found")
    assert.strictEqual(await lastSeqOf(quiet), 0)
  })

  it("refuses an origin from whoever is no trigger", async () => {
    const origin = {
      provider: "slack",
      tenantId: "T",
      senderId: "€".repeat(170),
      channelId: "C",
      messageId: "M",
      threadId: "X"
    }
    assertRefused(await send(quiet, { content: text("x"), origin }), 403, "origin_not_allowed")
  })

  it("refuses a model with a steer, even to a thread at rest", async () => {
    for (const threadId of [quiet, busy]) {
      assertRefused(
        await send(threadId, { content: text("x"), mode: "steer", model: "troupe/scripted" }),
        400,
        "model_not_allowed_with_steer"
      )
    }
  })

  it("refuses a turn that is not the active one, and takes the active one", async () => {
    const turnId = `trn_${"0".repeat(26)}`
    assertRefused(await send(quiet, { content: text("x"), expectedTurnId: turnId }), 409, "turn_conflict")
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/wait 5s\nA")
    assertRefused(
      await send(threadId, { content: text("x"), mode: "steer", expectedTurnId: turnId }),
      409,
      "turn_conflict"
    )
    const steer = await send(threadId, { content: text("x"), mode: "steer", expectedTurnId: a.turnId })
    assert.deepInclude(steer.body, { state: "steered", turnId: a.turnId })
    await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
  })

  it("refuses what is no JSON object of text", async () => {
    const path = `/v1/threads/${quiet}/messages`
    for (const [body, code] of [
      ["", undefined],
      ["{", "invalid_json"],
      ["[1,", "invalid_json"],
      ["nul", "invalid_json"],
      ["'x'", "invalid_json"]
    ] as const) {
      assertRefused(await alpha.send("POST", path, body), 400, "invalid_request", code)
    }
    for (const body of ["null", "[]", "5", '"x"', "true"])
      assertRefused(await alpha.send("POST", path, body), 400, "invalid_request")
    assertRefused(
      await alpha.send("POST", path, new Uint8Array([0x22, 0xff, 0xfe, 0x22])),
      400,
      "invalid_request",
      "invalid_json"
    )
    assertRefused(await alpha.send("POST", path, "[".repeat(65) + "]".repeat(65)), 400, "invalid_request")
    assertRefused(await alpha.send("POST", path, "[".repeat(500_000)), 400, "invalid_request")
    assertRefused(
      await alpha.send("POST", path, `{"content":[{"type":"text","text":"x"}],"__proto__":{"mode":"steer"}}`),
      400,
      "invalid_request"
    )
    assertRefused(
      await alpha.send("POST", path, "hello", { "content-type": "text/plain" }),
      415,
      "unsupported_media_type"
    )
    assert.strictEqual(await lastSeqOf(quiet), 0)
  })

  it("takes a body of a mebibyte, and none of a byte more", async () => {
    const body = JSON.stringify({ content: text("hello") })
    const threadId = await makeThread(alpha, agentId)
    const full = await alpha.send(
      "POST",
      `/v1/threads/${threadId}/messages`,
      body + " ".repeat(1024 * 1024 - body.length)
    )
    assert.strictEqual(full.status, 201, full.text)
    assertRefused(
      await alpha.send("POST", `/v1/threads/${quiet}/messages`, body + " ".repeat(1024 * 1024 + 1 - body.length)),
      413,
      "payload_too_large"
    )
    assert.strictEqual(await lastSeqOf(quiet), 0)
  })

  it("writes nothing of a body that ends early", async () => {
    const body = JSON.stringify({ content: text("hello") })
    const head = `POST /v1/threads/${quiet}/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alpha.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 5}\r\n\r\n`
    await raw(server.base, head + body)
    assert.strictEqual(await lastSeqOf(quiet), 0)
  })

  it("refuses an agent that is archived and an identity that is disabled, and takes both up again", async () => {
    const own = await makeAgent(alpha, undefined, { identity: "carl" })
    const threadId = await makeThread(alpha, own)
    await alpha.post("/v1/identities/disable", { identity: "carl" })
    assertRefused(await send(threadId, { content: text("x") }), 403, "identity_disabled")
    await alpha.post("/v1/identities/enable", { identity: "carl" })
    assert.strictEqual((await send(threadId, { content: text("x") })).status, 201)
    await logOf(alpha, threadId, ended(1))
    await alpha.delete(`/v1/agents/${own}`)
    assertRefused(await send(threadId, { content: text("x") }), 409, "agent_archived")
  })

  it("refuses a model that nobody has, and uses one that somebody has", async () => {
    const threadId = await makeThread(alpha, agentId)
    assertRefused(await send(threadId, { content: text("x"), model: "nobody/nothing" }), 422, "model_unavailable")
    assert.strictEqual((await send(threadId, { content: text("x"), model: "troupe/scripted-paid" })).status, 201)
    const log = await logOf(alpha, threadId, ended(1))
    assert.strictEqual(log[1]!.modelId, "troupe/scripted-paid")
  })
})

describe("the same submit twice", () => {
  it("takes effect once with the same Idempotency-Key, and is answered the same", async () => {
    const threadId = await makeThread(alpha, agentId)
    const key = { "idempotency-key": "k".repeat(255) }
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(threadId, { content: text("once") }, key)))
    assert.deepStrictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    assert.deepStrictEqual(
      answers.map(({ headers }) => headers.get("idempotency-replayed")).filter((replayed) => replayed === "true")
        .length,
      4
    )
    const log = await logOf(alpha, threadId, ended(1))
    assert.strictEqual(log.filter(({ type }) => type === "user_message").length, 1)
    assertRefused(await send(threadId, { content: text("other") }, key), 422, "idempotency_key_reused")
  })

  it("is two messages with another key, to another thread, or by another credential", async () => {
    const [one, two] = [await makeThread(alpha, agentId), await makeThread(alpha, agentId)]
    const other = await server.client(server.workspaces.alpha)
    const body = { content: text("same") }
    const key = { "idempotency-key": "scoped" }
    const ids = [
      await send(one, body, key),
      await send(two, body, key),
      await send(one, body, { "idempotency-key": "scoped2" }),
      await other.post(`/v1/threads/${one}/messages`, body, key)
    ].map((answer) => answer.body.id)
    assert.strictEqual(new Set(ids).size, 4)
  })

  it("is not bound by a refusal", async () => {
    const threadId = await makeThread(alpha, agentId)
    const key = { "idempotency-key": "refused first" }
    const body = { content: text("x"), expectedTurnId: `trn_${"0".repeat(26)}` }
    assertRefused(await send(threadId, body, key), 409, "turn_conflict")
    assertRefused(await send(threadId, body, key), 409, "turn_conflict")
    assert.strictEqual((await send(threadId, { content: text("x") }, key)).status, 201)
  })

  it("refuses a key of 256 characters and an empty one", async () => {
    for (const key of ["k".repeat(256), ""]) {
      assertRefused(
        await send(quiet, { content: text("x") }, { "idempotency-key": key }),
        400,
        "invalid_request",
        "invalid_header"
      )
    }
  })
})

describe("the queue", () => {
  it("is a bare array in the order in which it would run", async () => {
    const threadId = await makeThread(alpha, agentId)
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${threadId}/queue`)).body, [])
    const a = await submit(alpha, threadId, "/wait 10s\nA")
    const inputs = [
      await submit(alpha, threadId, "Q1"),
      await submit(alpha, threadId, "S1", { mode: "steer" }),
      await submit(alpha, threadId, "Q2", { model: "troupe/scripted-paid" }),
      await submit(alpha, threadId, "S2", { mode: "steer" })
    ]
    assert.deepStrictEqual(
      inputs.map(({ state }) => state),
      ["queued", "steered", "queued", "steered"]
    )
    const { body } = await alpha.get(`/v1/threads/${threadId}/queue`)
    const queue = (body as ReadonlyArray<unknown>).map((item) => decodeQueued(item))
    assert.deepStrictEqual(
      queue.map(({ id }) => id),
      [inputs[1].id, inputs[3].id, inputs[0].id, inputs[2].id]
    )
    assert.deepStrictEqual(
      queue.map(({ turnId }) => turnId),
      [a.turnId, a.turnId, inputs[0].turnId, inputs[2].turnId]
    )
    assert.strictEqual(queue[3]!.model, "troupe/scripted-paid")
    await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${threadId}/queue`)).body, [])
  })

  it("holds 100 inputs, and refuses one more with the time to wait", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 10s\nA")
    for (let i = 0; i < 100; i++) await submit(alpha, threadId, `Q${i}`)
    for (const mode of ["queue", "steer"]) {
      const refused = await send(threadId, { content: text("too many"), mode })
      assertRefused(refused, 429, "queue_full")
      assert.isAbove(refused.body.retryAfterSeconds, 0)
    }
    assert.lengthOf((await alpha.get(`/v1/threads/${threadId}/queue`)).body, 100)
    await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
  })

  it("tells what became of an input: queued, steered, admitted with its seq, cancelled", async () => {
    const threadId = await makeThread(alpha, agentId)
    const get = async (id: string) => {
      const answer = await alpha.get(`/v1/threads/${threadId}/queue/${id}`)
      assert.strictEqual(answer.status, 200, answer.text)
      return decodeRecord(answer.body)
    }
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q", { model: "troupe/scripted-paid" })
    const s = await submit(alpha, threadId, "S", { mode: "steer" })
    const x = await submit(alpha, threadId, "X")
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}/queue/${x.id}`)).status, 204)
    const { state: _, seq: __, ...admitted } = a
    assert.deepStrictEqual(await get(a.id), { ...admitted, state: "admitted", seq: 1 })
    assert.deepStrictEqual(await get(q.id), q)
    assert.deepStrictEqual(await get(s.id), s)
    assert.deepStrictEqual(await get(x.id), { ...x, state: "cancelled" })
    const log = await logOf(alpha, threadId, ended(2))
    const at = (id: string) => log.find(({ inputId }) => inputId === id)!
    const [doneQ, doneS] = [await get(q.id), await get(s.id)]
    assert.deepInclude(doneQ, {
      state: "admitted",
      seq: at(q.id).seq,
      turnId: q.turnId,
      model: "troupe/scripted-paid",
      submitMode: "queue"
    })
    assert.deepInclude(doneS, { state: "admitted", seq: at(s.id).seq, turnId: a.turnId, submitMode: "steer" })
    assert.deepStrictEqual([doneQ.queuedAt, doneS.queuedAt], [q.queuedAt, s.queuedAt])
  })

  it("edits what waits, and only that", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const edited = await alpha.patch(path(q.id), { content: text("edited \u0000") })
    assert.strictEqual(edited.status, 200, edited.text)
    const { state: _, ...queued } = q
    assert.deepStrictEqual(decodeQueued(edited.body), { ...queued, content: text("edited \u0000") })
    assertInvalid(await alpha.patch(path(q.id), {}), "content")
    assertInvalid(await alpha.patch(path(q.id), { content: [] }), "content")
    assertInvalid(await alpha.patch(path(q.id), { content: text("x"), mode: "steer" }), "mode")
    assertInvalid(await alpha.patch(path(q.id), { content: text("a".repeat(8193)) }), "content")
    assertRefused(await alpha.patch(path(q.id), { content: [image("a")] }), 422, "image_not_found")
    const refused = await alpha.patch(path(a.id), { content: text("late") })
    assertRefused(refused, 409, "input_not_pending")
    assert.include(refused.body.message, a.turnId)
    assertRefused(await alpha.patch(path(`inp_${"0".repeat(26)}`), { content: text("x") }), 404, "not_found")
    assertRefused(await alpha.patch(path("inp_1"), { content: text("x") }), 404, "not_found")
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(log.find(({ inputId }) => inputId === q.id)!.content, text("edited \u0000"))
    const late = await alpha.patch(path(q.id), { content: text("late") })
    assertRefused(late, 409, "input_not_pending")
    assert.include(late.body.message, q.turnId)
  })

  it("lets go of what waits, and says so again", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const removed = await alpha.delete(path(q.id))
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    assert.strictEqual((await alpha.delete(path(q.id))).status, 204)
    assertRefused(await alpha.delete(path(a.id)), 409, "input_not_pending")
    assertRefused(await alpha.delete(path(`inp_${"0".repeat(26)}`)), 404, "not_found")
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(
      log.map(({ type }) => type),
      ["user_message", "assistant_message", "turn_completed"]
    )
  })

  it("promotes to a steer, which the running turn takes", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}/promote`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const m = await submit(alpha, threadId, "M", { model: "troupe/scripted-paid" })
    assertRefused(await alpha.post(path(m.id), { mode: "steer" }), 400, "model_not_allowed_with_steer")
    assertRefused(
      await alpha.post(path(q.id), { mode: "steer", expectedTurnId: `trn_${"0".repeat(26)}` }),
      409,
      "turn_conflict"
    )
    assertInvalid(await alpha.post(path(q.id), {}), "mode")
    assertInvalid(await alpha.post(path(q.id), { mode: "queue" }), "mode")
    const promoted = await alpha.post(path(q.id), { mode: "steer", expectedTurnId: a.turnId })
    assert.strictEqual(promoted.status, 200, promoted.text)
    assert.deepInclude(decodeSubmitted(promoted.body), {
      id: q.id,
      state: "steered",
      submitMode: "steer",
      turnId: a.turnId
    })
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(
      log.map(({ inputId, type }) => inputId ?? type),
      [
        a.id,
        "assistant_message",
        q.id,
        "assistant_message",
        "turn_completed",
        m.id,
        "assistant_message",
        "turn_completed"
      ]
    )
    assertRefused(await alpha.post(path(q.id), { mode: "steer" }), 409, "input_not_pending")
    assertRefused(await alpha.post(path(`inp_${"0".repeat(26)}`), { mode: "steer" }), 404, "not_found")
  })

  it("promotes to an interrupt, which goes first", async () => {
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/wait 10s\nA")
    const q1 = await submit(alpha, threadId, "Q1")
    const q2 = await submit(alpha, threadId, "Q2")
    const promoted = await alpha.post(`/v1/threads/${threadId}/queue/${q2.id}/promote`, { mode: "interrupt" })
    assert.strictEqual(promoted.status, 200, promoted.text)
    const log = await logOf(alpha, threadId, ended(3))
    assert.deepStrictEqual(
      log.filter(({ type }) => type === "user_message").map(({ inputId }) => inputId),
      [a.id, q2.id, q1.id]
    )
    assert.deepInclude(promoted.body, { state: "admitted", seq: 3, submitMode: "interrupt" })
  })

  it("is the thread's own: an input of another thread is unknown", async () => {
    const q = await submit(alpha, busy, "Q")
    assertRefused(await alpha.get(`/v1/threads/${quiet}/queue/${q.id}`), 404, "not_found")
    assertRefused(await alpha.patch(`/v1/threads/${quiet}/queue/${q.id}`, { content: text("x") }), 404, "not_found")
    assertRefused(await alpha.delete(`/v1/threads/${quiet}/queue/${q.id}`), 404, "not_found")
    assertRefused(await alpha.post(`/v1/threads/${quiet}/queue/${q.id}/promote`, { mode: "steer" }), 404, "not_found")
    assertRefused(await server.beta.get(`/v1/threads/${busy}/queue/${q.id}`), 404, "not_found")
    assert.strictEqual((await alpha.get(`/v1/threads/${busy}/queue/${q.id}`)).body.state, "queued")
  })
})
