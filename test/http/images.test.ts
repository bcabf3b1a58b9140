/** Images: what is taken, what is refused, who may name them, and which models are shown them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type RawBuilder, sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { forgetImages } from "../../src/images/leaving.ts"
import { clearDeleted } from "../../src/threads/deleting.ts"
import { rewrite, startHookServer } from "../hooks/hookServer.ts"
import { gif, jpeg, png, pngOf, webp } from "../images.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { assertRefused } from "./refused.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { Line } from "./socket.ts"
import { call, eventually, makeWorker, only, turnOf } from "./toolFixture.ts"

let server: TestServer
let alpha: Client
beforeAll(async () => {
  server = await startServer()
  alpha = server.alpha
})
afterAll(() => server.stop())

const MiB = 1024 * 1024

const send = async (client: Client, agentId: string, body: Uint8Array | string, type: string, headers = {}) => {
  const response = await fetch(`${client.base}/v1/agents/${agentId}/images`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.token}`, "content-type": type, ...headers },
    body
  })
  const answer = await response.text()
  return { status: response.status, headers: response.headers, text: answer, body: JSON.parse(answer) }
}
const upload = async (agentId: string, bytes: Uint8Array, type = "image/png") => {
  const sent = await send(alpha, agentId, bytes, type)
  assert.oneOf(sent.status, [200, 201], sent.text)
  return sent.body.image.id as string
}
const refused = (answer: Awaited<ReturnType<typeof send>>, status: number, error: string) =>
  assert.deepStrictEqual([answer.status, answer.body.error], [status, error], answer.text)

const image = (imageId: string) => ({ type: "image" as const, imageId })
const end = (log: ReadonlyArray<Event>) => log.at(-1) ?? assert.fail("no events")

describe("an upload", () => {
  it.each([
    ["png", png(3, 2), 3, 2],
    ["jpeg", jpeg(), 1, 1],
    ["gif", gif(), 1, 1],
    ["webp", webp(), 1, 1]
  ])("of a %s is kept as it is, and read again", async (format, bytes, width, height) => {
    const agentId = await makeAgent(alpha)
    const sent = await send(alpha, agentId, bytes, `image/${format}`)
    assert.strictEqual(sent.status, 201, sent.text)
    const { createdAt, id, ...rest } = sent.body.image
    assert.match(id, /^img_[0-9a-f]{64}$/)
    assert.match(createdAt, /Z$/)
    assert.deepStrictEqual(rest, { format, bytes: bytes.length, width, height })
    const read = await fetch(`${alpha.base}/v1/images/${id}`, { headers: { authorization: `Bearer ${alpha.token}` } })
    assert.deepStrictEqual(Buffer.from(await read.arrayBuffer()), bytes)
    assert.deepStrictEqual(
      ["content-type", "etag", "x-content-type-options", "content-disposition", "cache-control"].map((name) =>
        read.headers.get(name)
      ),
      [`image/${format}`, `"${id}"`, "nosniff", "attachment", "private, max-age=31536000, immutable"]
    )
  })

  it("is not sent again to whoever names its ETag", async () => {
    const { id } = (await send(alpha, await makeAgent(alpha), png(6, 6), "image/png")).body.image
    const statusOf = async (known: string) => {
      const headers = { authorization: `Bearer ${alpha.token}`, "if-none-match": known }
      const answer = await fetch(`${alpha.base}/v1/images/${id}`, { headers })
      assert.strictEqual((await answer.arrayBuffer()).byteLength > 0, answer.status === 200)
      assert.strictEqual(answer.headers.get("etag"), `"${id}"`)
      return answer.status
    }
    for (const known of [`"${id}"`, `W/"${id}"`, `"a", "${id}"`, "*"])
      assert.strictEqual(await statusOf(known), 304, known)
    for (const other of [`"a"`, id, "", `"*"`]) assert.strictEqual(await statusOf(other), 200, other)
  })

  it("may be JSON with the bytes as base64", async () => {
    const agentId = await makeAgent(alpha)
    const body = { format: "png", data: png(5, 5).toString("base64") }
    const sent = await alpha.post(`/v1/agents/${agentId}/images`, body)
    assert.deepStrictEqual([sent.status, sent.body.image?.width], [201, 5], sent.text)
    assertRefused(
      await alpha.post(`/v1/agents/${agentId}/images`, { ...body, format: "bmp" }),
      400,
      "invalid_request",
      "format"
    )
    assertRefused(
      await alpha.post(`/v1/agents/${agentId}/images`, { ...body, data: "§" }),
      400,
      "invalid_request",
      "data"
    )
    assertRefused(
      await alpha.post(`/v1/agents/${agentId}/images`, { ...body, more: 1 }),
      400,
      "invalid_request",
      "more"
    )
  })

  it("of the same bytes is the same image: 200 for the same agent, 201 for another, another id elsewhere", async () => {
    const [one, two] = [await makeAgent(alpha), await makeAgent(alpha)]
    const first = await send(alpha, one, png(7, 7), "image/png")
    const again = await send(alpha, one, png(7, 7), "image/png")
    const other = await send(alpha, two, png(7, 7), "image/png")
    assert.deepStrictEqual([first.status, again.status, other.status], [201, 200, 201])
    assert.deepStrictEqual([again.body, other.body.image.id], [first.body, first.body.image.id])
    const beta = await send(server.beta, await makeAgent(server.beta), png(7, 7), "image/png")
    assert.notStrictEqual(beta.body.image.id, first.body.image.id)
    assertRefused(await server.beta.get(`/v1/images/${first.body.image.id}`), 404, "not_found")
  })

  it("is repeated under its Idempotency-Key, and not with other bytes", async () => {
    const agentId = await makeAgent(alpha)
    const headers = { "idempotency-key": "picture" }
    const first = await send(alpha, agentId, png(8, 8), "image/png", headers)
    const again = await send(alpha, agentId, png(8, 8), "image/png", headers)
    assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [201, "true"])
    assert.deepStrictEqual(again.body, first.body)
    refused(await send(alpha, agentId, png(9, 9), "image/png", headers), 422, "idempotency_key_reused")
  })

  it.each([
    ["another declared format", jpeg(), "image/png", 422, "image_format_mismatch"],
    ["a page", Buffer.from("<html></html>"), "image/png", 422, "image_format_mismatch"],
    ["a drawing", Buffer.from('<svg width="1" height="1"/>'), "image/png", 422, "image_format_mismatch"],
    ["a drawing that says so", Buffer.from("<svg/>"), "image/svg+xml", 415, "image_format_unsupported"],
    ["a text", Buffer.from("hello"), "text/plain", 415, "unsupported_media_type"],
    ["nothing", Buffer.alloc(0), "image/png", 422, "image_format_mismatch"],
    ["a beginning", png().subarray(0, 30), "image/png", 422, "image_malformed"],
    ["a png that is cut short", png().subarray(0, -4), "image/png", 422, "image_malformed"],
    [
      "a png with an archive behind it",
      Buffer.concat([png(), Buffer.from("PK\x03\x04")]),
      "image/png",
      422,
      "image_malformed"
    ],
    ["a gif that is cut short", gif().subarray(0, -1), "image/gif", 422, "image_malformed"],
    ["a webp with more behind it", Buffer.concat([webp(), Buffer.from("x")]), "image/webp", 422, "image_malformed"],
    ["a broken jpeg", Buffer.from("ffd8ffe000104a46", "hex"), "image/jpeg", 422, "image_malformed"],
    ["no width", png(0, 5), "image/png", 422, "image_malformed"],
    ["no pixels", png(0, 0), "image/png", 422, "image_malformed"],
    ["a bomb", png(30_000, 30_000), "image/png", 413, "image_too_large"],
    ["8,001 pixels", png(8_001, 1), "image/png", 413, "image_too_large"],
    ["more than 50 megapixels", png(8_000, 6_251), "image/png", 413, "image_too_large"]
  ])("of %s is refused", async (_, bytes, type, status, error) => {
    refused(await send(alpha, await makeAgent(alpha), bytes, type), status, error)
  })

  it.each([
    [png(8_000, 1), 201],
    [png(8_000, 6_250), 201],
    [pngOf(10 * MiB), 201],
    [pngOf(10 * MiB + 1), 413]
  ])("is held to its limits", async (bytes, status) => {
    const sent = await send(alpha, await makeAgent(alpha), bytes, "image/png")
    assert.strictEqual(sent.status, status, sent.text)
    if (status === 413) assert.strictEqual(sent.body.error, "image_too_large")
  })

  it("as JSON may be as large as one of raw bytes, and no larger", async () => {
    const agentId = await makeAgent(alpha)
    const of = (bytes: Buffer) => JSON.stringify({ format: "png", data: bytes.toString("base64") })
    assert.strictEqual((await send(alpha, agentId, of(pngOf(10 * MiB)), "application/json")).status, 201)
    refused(await send(alpha, agentId, of(pngOf(10 * MiB + 1)), "application/json"), 413, "image_too_large")
    refused(await send(alpha, agentId, of(pngOf(11 * MiB)), "application/json"), 413, "payload_too_large")
  })

  it("is for an agent that is there, and of whoever may run it", async () => {
    refused(await send(alpha, "agt_01m7y1svs7e0087pe32vr71000", png(), "image/png"), 404, "not_found")
    const agentId = await makeAgent(alpha)
    refused(await send(server.beta, agentId, png(), "image/png"), 404, "not_found")
    await alpha.delete(`/v1/agents/${agentId}`)
    refused(await send(alpha, agentId, png(), "image/png"), 409, "agent_archived")
  })

  /** An upload that has begun, and ends when it is told to. */
  const opened = (client: Client, agentId: string) => {
    let finish = () => {}
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(png().subarray(0, 20))
        finish = () => {
          controller.enqueue(png().subarray(20))
          controller.close()
        }
      }
    })
    const headers = { authorization: `Bearer ${client.token}`, "content-type": "image/png" }
    const init: RequestInit & { readonly duplex: "half" } = { method: "POST", headers, body, duplex: "half" }
    return { sent: fetch(`${client.base}/v1/agents/${agentId}/images`, init), finish: () => finish() }
  }
  const crowded = async (client: Client, agentId: string): Promise<Awaited<ReturnType<typeof send>>> => {
    const answer = await send(client, agentId, png(), "image/png")
    return answer.status === 429 ? answer : crowded(client, agentId)
  }

  it("is cut off where it says no end, or another length than it has", async () => {
    const agentId = await makeAgent(alpha)
    const begin = (header: string) =>
      new Line(alpha.base).send(
        `POST /v1/agents/${agentId}/images HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${alpha.token}\r\n` +
          `Content-Type: image/png\r\n${header}\r\n\r\n`
      )
    const told = async (line: Line) => {
      const { statuses, text } = await line.until(({ bodies }) => bodies.length > 0)
      line.socket.destroy()
      return [statuses[0], /"error":"(\w+)"/.exec(text)?.[1]]
    }
    const bytes = png()
    const endless = begin("Transfer-Encoding: chunked")
    const piece = `100000\r\n${"x".repeat(MiB)}\r\n`
    for (let i = 0; i < 11; i++) endless.send(piece)
    assert.deepStrictEqual(await told(endless), [413, "image_too_large"])
    assert.deepStrictEqual(await told(begin(`Content-Length: ${10 * MiB + 1}`)), [413, "image_too_large"])
    const short = begin(`Content-Length: ${bytes.length - 4}`).send(bytes.toString("latin1"))
    assert.deepStrictEqual(await told(short), [422, "image_malformed"])
    const long = begin(`Content-Length: ${bytes.length + 4}`).send(bytes.toString("latin1"))
    long.socket.end()
    await long.untilClosed()
    assert.notInclude(long.statuses, 201)
    assert.strictEqual((await alpha.get(`/v1/agents/${agentId}/images`)).body.images.length, 0)
    const slowly = begin(`Content-Length: ${bytes.length}`)
    await new Promise<unknown>((written) => slowly.socket.write(bytes.subarray(0, 20), written))
    slowly.send(bytes.subarray(20).toString("latin1"))
    assert.deepStrictEqual(await told(slowly), [201, undefined])
  })

  it("is one of four of its key at once", async () => {
    const agentId = await makeAgent(alpha)
    const slow = Array.from({ length: 4 }, () => opened(alpha, agentId))
    refused(await crowded(alpha, agentId), 429, "rate_limited")
    for (const { finish } of slow) finish()
    for (const { sent } of slow) assert.oneOf((await sent).status, [200, 201])
    assert.strictEqual((await send(alpha, agentId, png(), "image/png")).status, 200)
  })

  it("is one of eight on its node at once, whoever sends them", async () => {
    const agentId = await makeAgent(alpha)
    const others = await Promise.all([1, 2].map(() => server.client(server.workspaces.alpha)))
    const slow = others.flatMap((client) => Array.from({ length: 4 }, () => opened(client, agentId)))
    refused(await crowded(alpha, agentId), 429, "rate_limited")
    const [first, ...rest] = slow
    first?.finish()
    assert.oneOf((await first?.sent)?.status ?? 0, [200, 201])
    assert.strictEqual((await send(alpha, agentId, png(), "image/png")).status, 200)
    for (const { finish } of rest) finish()
    for (const { sent } of rest) assert.oneOf((await sent).status, [200, 201])
  })
})

describe("the images of an agent", () => {
  it("are listed newest first, page by page", async () => {
    const agentId = await makeAgent(alpha)
    const ids: Array<string> = []
    for (let i = 1; i <= 5; i++) ids.unshift(await upload(agentId, png(20 + i, 1)))
    const first = await alpha.get(`/v1/agents/${agentId}/images?limit=3`)
    const second = await alpha.get(`/v1/agents/${agentId}/images?limit=3&cursor=${first.body.nextCursor}`)
    const found = [...first.body.images, ...second.body.images].map(({ id }: { readonly id: string }) => id)
    assert.deepStrictEqual(found, ids)
    assert.isUndefined(second.body.nextCursor)
  })
})

describe("a message", () => {
  it("names images of its agent, in every way that it can be sent", async () => {
    const agentId = await makeAgent(alpha)
    const id = await upload(agentId, png(31, 1))
    const content = [...text("Look."), image(id)]
    const created = await alpha.post("/v1/threads", { agentId, message: { content } })
    assert.strictEqual(created.status, 201, created.text)
    const threadId = created.body.thread.id
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(log[0]?.content, content)
    assert.strictEqual(end(log).type, "turn_completed")
    await alpha.post(`/v1/threads/${threadId}/messages`, { content: text("/wait 20s") })
    const queued = await alpha.post(`/v1/threads/${threadId}/messages`, { content })
    assert.strictEqual(queued.status, 201, queued.text)
    const edit = (imageId: string) =>
      alpha.patch(`/v1/threads/${threadId}/queue/${queued.body.id}`, { content: [...text("No."), image(imageId)] })
    assert.strictEqual((await edit(id)).status, 200)
    const foreign = await upload(await makeAgent(alpha), png(32, 1))
    assertRefused(await edit(foreign), 422, "image_not_found", "content[1].imageId")
    const steer = (imageId: string) =>
      alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(imageId)], mode: "steer" })
    assertRefused(await steer(foreign), 422, "image_not_found", "content[0].imageId")
    assert.strictEqual((await steer(id)).status, 201)
    const other = await alpha.post("/v1/threads", { agentId, message: { content: [image(foreign)] } })
    assertRefused(other, 422, "image_not_found", "message.content[0].imageId")
    const elsewhere = await send(server.beta, await makeAgent(server.beta), png(31, 1), "image/png")
    assertRefused(await steer(elsewhere.body.image.id), 422, "image_not_found", "content[0].imageId")
  })

  it("that a hook rewrites shows no image that it did not name: neither another agent's nor one of its own", async () => {
    const agentId = await makeAgent(alpha)
    const named = await upload(agentId, png(33, 1))
    const unnamed = await upload(agentId, png(34, 1))
    const foreign = await upload(await makeAgent(alpha), png(35, 1))
    const hooks = await startHookServer()
    const shown = async (id: string) => {
      const processor = { type: "url", url: hooks.endpoint(rewrite({ content: [...text("Look."), image(id)] })).url }
      const profile = await alpha.post("/v1/profiles", {
        name: "Hooked",
        models: ["troupe/scripted"],
        hooks: [{ name: "swap", point: "before_turn_start", processor, onError: "deny" }]
      })
      const { profileId } = (await alpha.get(`/v1/agents/${agentId}`)).body.agent
      assert.strictEqual(
        (await alpha.patch(`/v1/agents/${agentId}`, { profileId: profile.body.profile.id })).status,
        200
      )
      const created = await alpha.post("/v1/threads", { agentId, message: { content: [image(named)] } })
      const log = await logOf(alpha, created.body.thread.id, ended(1))
      await alpha.patch(`/v1/agents/${agentId}`, { profileId })
      return [end(log).type, end(log).failureCode]
    }
    try {
      assert.deepStrictEqual(await shown(named), ["turn_completed", undefined])
      assert.deepStrictEqual(await shown(unnamed), ["turn_failed", "hook_failed"])
      assert.deepStrictEqual(await shown(foreign), ["turn_failed", "hook_failed"])
    } finally {
      await hooks.stop()
    }
  })

  it("names at most 20, each once", async () => {
    const agentId = await makeAgent(alpha)
    const threadId = await makeThread(alpha, agentId)
    const ids: Array<string> = []
    for (let i = 1; i <= 21; i++) ids.push(await upload(agentId, png(40 + i, 1)))
    const say = (...names: ReadonlyArray<string>) =>
      alpha.post(`/v1/threads/${threadId}/messages`, { content: names.map(image) })
    assert.strictEqual((await say(...ids.slice(0, 20))).status, 201)
    assertRefused(await say(...ids), 400, "invalid_request")
    assertRefused(await say(ids[0] ?? "", ids[0] ?? ""), 400, "invalid_request")
  })
})

describe("a schedule's message", () => {
  const body = (imageId: string) => ({
    name: "Show",
    trigger: { type: "cron", expression: "0 9 1 1 *", timezone: "UTC" },
    target: { mode: "spawn" },
    message: { content: [...text("Look."), image(imageId)] }
  })
  const at = "message.content[1].imageId"

  it("names images of its agent, and no others", async () => {
    const agentId = await makeAgent(alpha)
    const [own, foreign] = [await upload(agentId, png(51, 1)), await upload(await makeAgent(alpha), png(52, 1))]
    const path = `/v1/agents/${agentId}/schedules`
    assertRefused(await alpha.post(path, body(foreign)), 422, "image_not_found", at)
    const made = await alpha.post(path, body(own))
    assert.strictEqual(made.status, 201, made.text)
    const one = `${path}/${made.body.schedule.id}`
    const { message } = body(foreign)
    assertRefused(await alpha.patch(one, { message }), 422, "image_not_found", at)
    assert.deepStrictEqual((await alpha.get(one)).body.schedule.message, body(own).message)
    assert.strictEqual((await alpha.patch(one, { name: "Shown", message: { content: [image(own)] } })).status, 200)
  })

  it("that the agent itself writes is held to the same", async () => {
    const agentId = await makeWorker(alpha, { families: ["schedules"], familyExposure: "always" })
    const [own, foreign] = [await upload(agentId, png(53, 1)), await upload(await makeAgent(alpha), png(54, 1))]
    const log = await turnOf(
      alpha,
      agentId,
      call("schedules.create", body(foreign)),
      call("schedules.create", body(own))
    )
    const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event]))
    const [refusal, made] = only(log, "tool_intent").map(({ toolCallId }) => results.get(toolCallId))
    assert.match(String(refusal?.failureText), /^image_not_found: message\.content\[1\]\.imageId/)
    assert.strictEqual(made?.failureCode, undefined, JSON.stringify(made))
  })
})

describe("a model", () => {
  it("that does not accept a format fails the turn, and says which", async () => {
    const agentId = await makeAgent(alpha)
    const content = [
      image(await upload(agentId, webp(), "image/webp")),
      image(await upload(agentId, gif(), "image/gif"))
    ]
    const threadId = await makeThread(alpha, agentId, { message: { content } })
    const { failureCode, failureDetails, type } = end(await logOf(alpha, threadId, ended(1)))
    assert.deepStrictEqual(
      [type, failureCode, failureDetails],
      ["turn_failed", "model_image_format_unsupported", { targetId: "troupe/scripted", formats: ["gif", "webp"] }]
    )
  })

  it("that is the last of several says it, after the others were passed over", async () => {
    const agentId = await makeAgent(alpha, ["troupe/scripted", "troupe/scripted-small"])
    const content = [image(await upload(agentId, gif(), "image/gif"))]
    const threadId = await makeThread(alpha, agentId, { message: { content } })
    const { failureDetails } = end(await logOf(alpha, threadId, ended(1)))
    assert.deepStrictEqual(failureDetails, { targetId: "troupe/scripted-small", formats: ["gif"] })
  })
})

describe("an image that a deleted thread has named", () => {
  /** The thread is archived, deleted and cleared away. */
  const remove = async (threadId: string) => {
    for (const path of ["cancel", "archive"])
      assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/${path}`)).status, 200)
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}`)).status, 204)
    // The node's own chore may have the thread in hand.
    await eventually(async () => {
      await server.runtime.runPromise(clearDeleted())
      const left = await sqlOf<{ readonly thread: string }>(
        sql`select thread from deleted_threads where thread = ${toUuid(threadId)}`
      )
      return left.length === 0
    }, "its rows are gone")
  }
  const sqlOf = async <A>(query: RawBuilder<A>) =>
    (await server.runtime.runPromise(server.database.run("test.images", (db) => query.execute(db)))).rows
  const forget = (seconds?: number) => server.runtime.runPromise(forgetImages(seconds))
  /** `at` is rounded to a millisecond: a row just written may lie half a one ahead of the database's clock. */
  const forgetNow = () => forget(-1)
  const status = async (id: string) => (await alpha.get(`/v1/images/${id}`)).status
  const showing = async (agentId: string, id: string) => {
    const threadId = await makeThread(alpha, agentId, { message: { content: [image(id)] } })
    await logOf(alpha, threadId, ended(1))
    return threadId
  }
  /** As a thread's deletion leaves it, when no other row names it. */
  const leave = (agentId: string, id: string) =>
    sqlOf(sql`insert into leaving_images (workspace, agent, image)
      values (${toUuid(server.workspaces.alpha)}, ${toUuid(agentId)}, ${Buffer.from(id.slice(4), "hex")})`)

  it("goes an hour after it, with those that only its taken back messages named", async () => {
    const agentId = await makeAgent(alpha)
    const [sent, removed, unnamed] = [
      await upload(agentId, png(81, 1)),
      await upload(agentId, png(82, 1)),
      await upload(agentId, png(83, 1))
    ]
    const threadId = await showing(agentId, sent)
    await alpha.post(`/v1/threads/${threadId}/messages`, { content: text("/wait 60s") })
    const queued = await alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(removed)] })
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}/queue/${queued.body.id}`)).status, 204)
    assert.strictEqual(await status(sent), 200)
    await remove(threadId)
    await forget()
    for (const id of [sent, removed, unnamed]) assert.strictEqual(await status(id), 200)
    await forgetNow()
    assert.deepStrictEqual(await Promise.all([sent, removed, unnamed].map(status)), [404, 404, 200])
    const { images } = (await alpha.get(`/v1/agents/${agentId}/images`)).body
    assert.deepStrictEqual(
      images.map(({ id }: { readonly id: string }) => id),
      [unnamed]
    )
    const other = await alpha.post("/v1/threads", { agentId, message: { content: [image(sent)] } })
    assertRefused(other, 422, "image_not_found")
    assert.strictEqual(await upload(agentId, png(81, 1)), sent)
    assert.strictEqual(await status(sent), 200)
  })

  it("stays as long as something else names it", async () => {
    const agentId = await makeAgent(alpha)
    const id = await upload(agentId, png(84, 1))
    const entry = `/v1/agents/${agentId}/memory/entry?key=picture`
    const schedules = `/v1/agents/${agentId}/schedules`
    const schedule = {
      name: "Show",
      trigger: { type: "cron", expression: "0 9 1 1 *", timezone: "UTC" },
      target: { mode: "spawn" },
      message: { content: [image(id)] }
    }
    const threads = [await showing(agentId, id), await showing(agentId, id), await showing(agentId, id)]
    const busy = await makeThread(alpha, agentId, { message: { content: text("/wait 60s") } })
    const queued = await alpha.post(`/v1/threads/${busy}/messages`, { content: [image(id)] })
    assert.strictEqual(queued.status, 201, queued.text)
    const looked = async () => {
      await forgetNow()
      return status(id)
    }
    const [first = "", second = "", third = ""] = threads
    await remove(first)
    assert.strictEqual(await looked(), 200, "other threads show it")
    await remove(second)
    await remove(third)
    assert.strictEqual(await looked(), 200, "a message that waits names it")
    assert.strictEqual((await alpha.put(entry, { value: `see ${id}` })).status, 201)
    await remove(busy)
    assert.strictEqual(await looked(), 200, "the agent's memory names it")
    const made = await alpha.post(schedules, schedule)
    assert.strictEqual(made.status, 201, made.text)
    assert.strictEqual((await alpha.delete(entry)).status, 200)
    await leave(agentId, id)
    assert.strictEqual(await looked(), 200, "a schedule names it")
    assert.strictEqual((await alpha.delete(`${schedules}/${made.body.schedule.id}`)).status, 204)
    const other = await makeAgent(alpha)
    assert.strictEqual(await upload(other, png(84, 1)), id)
    await leave(agentId, id)
    assert.strictEqual(await looked(), 200, "another agent has it")
    assert.deepStrictEqual((await alpha.get(`/v1/agents/${agentId}/images`)).body.images, [])
    await leave(other, id)
    assert.strictEqual(await looked(), 404, "nobody has it any more")
  })

  it("stays where it is named or uploaded before it goes", async () => {
    const agentId = await makeAgent(alpha)
    const [named, sent] = [await upload(agentId, png(85, 1)), await upload(agentId, png(86, 1))]
    for (const id of [named, sent]) await remove(await showing(agentId, id))
    const again = await showing(agentId, named)
    assert.strictEqual(await upload(agentId, png(86, 1)), sent)
    await forgetNow()
    assert.deepStrictEqual([await status(named), await status(sent)], [200, 200])
    await remove(again)
    await forgetNow()
    assert.deepStrictEqual([await status(named), await status(sent)], [404, 200])
  })

  it("is there for whoever was told so, when it goes at the same moment", async () => {
    const [agentId, other] = [await makeAgent(alpha), await makeAgent(alpha)]
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 600s")
    for (let i = 0; i < 12; i++) {
      const bytes = png(100 + i, 1)
      const id = await upload(agentId, bytes)
      await leave(agentId, id)
      const told =
        i % 3 === 0
          ? upload(other, bytes).then(() => 201)
          : i % 3 === 1
            ? upload(agentId, bytes).then(() => 201)
            : alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(id)] }).then(({ status }) => status)
      const [answer] = await Promise.all([told, forgetNow()])
      assert.strictEqual(await status(id), answer === 201 ? 200 : 404, `${i}: ${answer}`)
    }
  })
})
