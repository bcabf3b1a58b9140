/** Messages: what is taken, what is refused, and the same one sent twice. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { raw } from "./client.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { decodeSubmitted, image, makeMessageTools } from "./messageFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const quiet = await makeThread(alpha, agentId)
const busy = await makeThread(alpha, agentId)
await submit(alpha, busy, "/wait 600s\nbusy")

const { lastSeqOf, send } = makeMessageTools(server)

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
