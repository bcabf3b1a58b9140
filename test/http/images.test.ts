/** Images: what is taken and what is refused, how many at once, and how they are listed. */
import { assert, describe, it } from "@effect/vitest"
import { gif, jpeg, png, pngOf, webp } from "../images.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { assertRefused, assertRefusedAt } from "./refusals.ts"
import { makeAgent } from "./threadFixture.ts"
import { Line } from "./socket.ts"
import { makeImageTools, send } from "./imageFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const { upload } = makeImageTools(server)

const MiB = 1024 * 1024

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
    assertRefusedAt(
      await alpha.post(`/v1/agents/${agentId}/images`, { ...body, format: "bmp" }),
      400,
      "invalid_request",
      "format"
    )
    assertRefusedAt(
      await alpha.post(`/v1/agents/${agentId}/images`, { ...body, data: "§" }),
      400,
      "invalid_request",
      "data"
    )
    assertRefusedAt(
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
    assertRefused(await send(alpha, agentId, png(9, 9), "image/png", headers), 422, "idempotency_key_reused")
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
    assertRefused(await send(alpha, await makeAgent(alpha), bytes, type), status, error)
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
    assertRefused(await send(alpha, agentId, of(pngOf(10 * MiB + 1)), "application/json"), 413, "image_too_large")
    assertRefused(await send(alpha, agentId, of(pngOf(11 * MiB)), "application/json"), 413, "payload_too_large")
  })

  it("is for an agent that is there, and of whoever may run it", async () => {
    assertRefused(await send(alpha, "agt_01m7y1svs7e0087pe32vr71000", png(), "image/png"), 404, "not_found")
    const agentId = await makeAgent(alpha)
    assertRefused(await send(server.beta, agentId, png(), "image/png"), 404, "not_found")
    await alpha.delete(`/v1/agents/${agentId}`)
    assertRefused(await send(alpha, agentId, png(), "image/png"), 409, "agent_archived")
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
    assertRefused(await crowded(alpha, agentId), 429, "rate_limited")
    for (const { finish } of slow) finish()
    for (const { sent } of slow) assert.oneOf((await sent).status, [200, 201])
    assert.strictEqual((await send(alpha, agentId, png(), "image/png")).status, 200)
  })

  it("is one of eight on its node at once, whoever sends them", async () => {
    const agentId = await makeAgent(alpha)
    const others = await Promise.all([1, 2].map(() => server.client(server.workspaces.alpha)))
    const slow = others.flatMap((client) => Array.from({ length: 4 }, () => opened(client, agentId)))
    assertRefused(await crowded(alpha, agentId), 429, "rate_limited")
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
