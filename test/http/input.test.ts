/** What comes in is held to its form before any handler sees it; what is not gets a 4xx that says where and why. */
import { assert, describe, it } from "@effect/vitest"
import { raw, send } from "./client.ts"
import { serving, World } from "./tiny.ts"

const world = new World()
const { key } = world.issue(["read", "run"])
const base = await serving(world)

const thread = "thr_01h455vb4pex5vsknk084sn02q"
const hello = { content: [{ type: "text", text: "hello" }] }
const auth = { authorization: `Bearer ${key}` }
const json = { ...auth, "content-type": "application/json" }

const routes = ["notes", "raw"] as const
const post = (route: string, body: string | Blob, headers: Record<string, string> = json) =>
  send(`${base}/v1/threads/${thread}/${route}`, { method: "POST", headers, body })
const list = (query: string) => send(`${base}/v1/threads/${thread}/notes${query}`, { headers: auth })

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const ofBytes = (bytes: number) => {
  const frame = JSON.stringify({ content: [], padding: "" })
  return JSON.stringify({ content: [], padding: "x".repeat(bytes - frame.length) })
}

describe.each(routes)("a body of %s", (route) => {
  const bad: ReadonlyArray<readonly [what: string, body: unknown, code: string, message: string]> = [
    ["misses a field", {}, "invalid_body", "content: is required"],
    ["is no object", [1], "invalid_body", "the body: expected an object"],
    ["is null", null, "invalid_body", "the body: expected an object"],
    [
      "has a field that nobody knows",
      { ...hello, colour: 1 },
      "unknown_field",
      "colour: unknown field; this body takes content, mode, weight"
    ],
    [
      "has an unknown field deep inside",
      { content: [hello.content[0], { ...hello.content[0], a: 1 }] },
      "unknown_field",
      "content[1].a: unknown field"
    ],
    [
      "has __proto__ as a field",
      JSON.parse('{"content":[{"type":"text","text":"a"}],"__proto__":{}}'),
      "unknown_field",
      "__proto__: unknown field; this body takes content, mode, weight"
    ],
    [
      "has a wrong type deep inside",
      { content: [hello.content[0], { type: "text", text: 1 }] },
      "invalid_body",
      "content[1].text: expected a string"
    ],
    [
      "has a text without text",
      { content: [{ type: "text", text: " " }] },
      "invalid_body",
      "content[0].text: expected a text with a non-whitespace character"
    ],
    [
      "has a block of no known type",
      { content: [{ type: "video" }] },
      "invalid_body",
      'content[0]: expected an object whose type is "text" or "image"'
    ],
    [
      "has a text for its content",
      { content: "hello" },
      "invalid_body",
      `content: expected an array of blocks, such as [{"type":"text","text":"…"}]`
    ],
    ["has an empty array", { content: [] }, "invalid_body", "content: expected a value with a length of at least 1"],
    [
      "has 41 blocks",
      { content: Array(41).fill(hello.content[0]) },
      "invalid_body",
      "content: expected a value with a length of at most 40"
    ],
    [
      "has 8 KiB of text and a byte",
      { content: [{ type: "text", text: "x".repeat(8193) }] },
      "invalid_body",
      "content: expected at most 8192 bytes of text in all"
    ],
    [
      "has a bad image id",
      { content: [{ type: "image", imageId: "img_1" }] },
      "invalid_body",
      "content[0].imageId: expected an id of the form img_ and 64 hex digits"
    ],
    [
      "has another word than the allowed",
      { ...hello, mode: "later" },
      "invalid_body",
      'mode: expected "queue" | "steer"'
    ],
    ["has a number out of range", { ...hello, weight: 6 }, "invalid_body", "weight: expected a value between 1 and 5"],
    ["has a fraction for a whole number", { ...hello, weight: 1.5 }, "invalid_body", "weight: expected an integer"]
  ]
  it.each(bad)("that %s is refused with the place", async (_, body, code, message) => {
    const answer = await post(route, JSON.stringify(body))
    assert.deepStrictEqual(answer.body, { error: "invalid_request", message, code })
    assert.strictEqual(answer.status, 400)
  })

  it("that has several problems is refused with five of them, and the number of the others", async () => {
    const problems = [
      "colour: unknown field",
      "content: is required",
      'mode: expected "queue" | "steer"',
      "weight: expected an integer"
    ]
    const four = { colour: 1, mode: "later", weight: 1.5 }
    const told = async (body: unknown, message: string) =>
      assert.deepStrictEqual((await post(route, JSON.stringify(body))).body, {
        error: "invalid_request",
        code: "unknown_field",
        message: `${message}; this body takes content, mode, weight`
      })
    await told(four, problems.join("; "))
    const more = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`x${i}`, 1]))
    const unknown = (n: number) =>
      Object.keys(more(n))
        .map((name) => `${name}: unknown field`)
        .join("; ")
    await told({ ...more(1), ...four }, ["x0: unknown field", ...problems].join("; "))
    await told({ ...more(5), ...hello }, unknown(5))
    await told({ ...more(6), ...hello }, `${unknown(5)}; and 1 more`)
    await told({ ...more(9), ...four }, `${unknown(5)}; and 8 more`)
  })

  it("that has thousands of problems is refused with the first", async () => {
    const message = 'content[0]: expected an object whose type is "text" or "image"'
    for (const blocks of [1_001, 100_000]) {
      const answer = await post(route, JSON.stringify({ content: Array(blocks).fill(1) }))
      assert.deepStrictEqual(
        [answer.status, answer.body],
        [400, { error: "invalid_request", code: "invalid_body", message }]
      )
    }
  })

  it("may hold 40 blocks and 8 KiB of text", async () => {
    assert.isBelow((await post(route, JSON.stringify({ content: Array(40).fill(hello.content[0]) }))).status, 300)
    assert.isBelow(
      (await post(route, JSON.stringify({ content: [{ type: "text", text: "x".repeat(8192) }] }))).status,
      300
    )
  })

  it("is taken up to 1 MiB and refused with 413 a byte past it, announced or not", async () => {
    assert.strictEqual((await post(route, ofBytes(1024 * 1024))).status, 400)
    for (const body of [ofBytes(1024 * 1024 + 1), new Blob([ofBytes(1024 * 1024 + 1)]).stream()]) {
      const answer = await send(`${base}/v1/threads/${thread}/${route}`, {
        method: "POST",
        headers: json,
        body,
        duplex: "half"
      } as RequestInit)
      assert.strictEqual(answer.status, 413)
      assert.deepStrictEqual(answer.body, { error: "payload_too_large", message: "a body is at most 1048576 bytes" })
    }
  })

  it("may nest 64 levels, and no deeper", async () => {
    const at64 = await post(route, `{"content":${deep(63)}}`)
    assert.deepInclude(at64.body, { code: "invalid_body" })
    const at65 = await post(route, `{"content":${deep(64)}}`)
    assert.deepInclude(at65.body, {
      error: "invalid_request",
      code: "invalid_json",
      message: "the body: nested deeper than 64 levels"
    })
    assert.strictEqual((await post(route, deep(500_000))).status, 400)
    // Brackets inside strings do not nest.
    assert.isBelow(
      (
        await post(
          route,
          JSON.stringify({ content: [{ type: "text", text: "[".repeat(200) + '\\"' + "{".repeat(200) }] })
        )
      ).status,
      300
    )
  })

  it("may have 10,000 fields in an object, and no more", async () => {
    const fields = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":"a:b"`).join(",")}}`
    const at = (n: number) => post(route, `{"content":[{"type":"text","text":":"},${fields(n)}],"more":${fields(2)}}`)
    assert.deepInclude((await at(10_000)).body, { code: "unknown_field" })
    assert.deepInclude((await at(10_001)).body, {
      error: "invalid_request",
      code: "invalid_json",
      message: "the body: more than 10000 fields in one object"
    })
    // Each object counts its own.
    const many = `{"content":[${Array.from({ length: 3_000 }, () => fields(4)).join(",")}]}`
    assert.notInclude((await post(route, many)).text, "in one object")
  })

  it("that is not JSON, or cut short, is refused", async () => {
    for (const text of ["{", '{"content":[', "{'a':1}", "NaN", "{} {}", "\u0000"]) {
      assert.deepInclude(
        (await post(route, text)).body,
        { error: "invalid_request", code: "invalid_json", message: "the body: not valid JSON" },
        text
      )
    }
  })

  it("that is empty counts as an empty object", async () => {
    assert.deepInclude((await post(route, "")).body, { message: "content: is required" })
  })

  it("that is not announced is empty too, and is not waited for", async () => {
    for (const length of ["", "Content-Length: 0\r\n"])
      for (const type of ["", "Content-Type: application/json\r\n"]) {
        const answer = await raw(
          base,
          `POST /v1/threads/${thread}/${route} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n${type}${length}\r\n`,
          false
        )
        assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*content: is required/)
      }
  })

  it("that is not UTF-8 is refused", async () => {
    const answer = await post(
      route,
      new Blob(['{"content":[{"type":"text","text":"', new Uint8Array([0xc3, 0x28]), '"}]}'])
    )
    assert.deepInclude(answer.body, { error: "invalid_request", message: "the body: not valid UTF-8" })
  })

  it("of another content type is refused with 415", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "application/jsonp",
      "multipart/form-data; boundary=x"
    ]) {
      const answer = await post(route, JSON.stringify(hello), { ...auth, "content-type": type })
      assert.strictEqual(answer.status, 415, type)
      assert.deepInclude(answer.body, { error: "unsupported_media_type" })
    }
    assert.strictEqual((await post(route, JSON.stringify(hello), { ...json, "content-encoding": "gzip" })).status, 415)
    for (const type of ["application/json", "application/json; charset=utf-8", 'APPLICATION/JSON;charset="UTF-8"']) {
      assert.isBelow((await post(route, JSON.stringify(hello), { ...auth, "content-type": type })).status, 300, type)
    }
  })

  it("keeps \\u0000, control characters and lone surrogates of a text as they are", async () => {
    for (const escaped of ["a\\u0000b", "a\\u001bb", "a\\ud800b", "\\udc00\\ud800", "a\\u2028b"]) {
      const answer = await post(route, `{"content":[{"type":"text","text":"${escaped}"}]}`)
      assert.isBelow(answer.status, 300)
      assert.deepEqual(
        (answer.body as { note: unknown }).note,
        JSON.parse(`{"content":[{"type":"text","text":"${escaped}"}]}`)
      )
    }
  })

  it("that ends before its announced length does no harm", async () => {
    const head = `POST /v1/threads/${thread}/${route} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n`
    const answer = await raw(base, `${head}{"content":`)
    assert.match(answer, /^$|^HTTP\/1\.1 400 /)
    assert.isBelow((await post(route, JSON.stringify(hello))).status, 300)
  })

  it("is asked for with 100 Continue by a client that waits for it", async () => {
    const body = JSON.stringify(hello)
    const head = `POST /v1/threads/${thread}/${route} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    const answer = await raw(base, head + body)
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 20[01] /)
  })
})

it("a body where none is taken is refused, unless it is empty", async () => {
  const poke = (init: RequestInit) => send(`${base}/v1/poke`, { method: "POST", headers: json, ...init })
  assert.strictEqual((await poke({})).status, 200)
  assert.match(
    await raw(
      base,
      `POST /v1/poke HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      false
    ),
    /^HTTP\/1\.1 200 /
  )
  assert.strictEqual((await poke({ body: " {} " })).status, 200)
  assert.deepInclude((await poke({ body: '{"a":1}' })).body, {
    code: "unknown_field",
    message: "this endpoint takes no body"
  })
  assert.strictEqual((await poke({ body: "x".repeat(2 ** 20 + 1) })).status, 413)
})

describe("an id in a path", () => {
  it.each([
    "thr_1",
    "agt_01h455vb4pex5vsknk084sn02q",
    "thr_81h455vb4pex5vsknk084sn02q",
    "thr_01H455VB4PEX5VSKNK084SN02Q",
    `thr_${"0".repeat(200)}`,
    "%00",
    "%ff",
    "..%2f..",
    "%"
  ])("that has not the form of its noun leads nowhere: %s", async (id) => {
    const answer = await send(`${base}/v1/threads/${id}/notes`, { headers: auth })
    assert.strictEqual(answer.status, 404)
    assert.deepInclude(answer.body, { error: "not_found" })
  })
})

describe("a query", () => {
  const bad: ReadonlyArray<readonly [query: string, code: string, message: string]> = [
    [
      "?after_seq=1",
      "unknown_parameter",
      "after_seq: unknown query parameter; this endpoint takes limit, cursor, afterSeq, deep"
    ],
    ["?limit=1&limit=2", "repeated_parameter", "limit: given more than once"],
    [
      "?limit=0&afterSeq=x",
      "limit_out_of_range",
      "limit: expected a whole number from 1 to 200; afterSeq: expected a whole number from 0 to 9223372036854775807"
    ],
    [
      "?after_seq=1&limit=0&deep=true&deep=true",
      "unknown_parameter",
      "after_seq: unknown query parameter; deep: given more than once; limit: expected a whole number from 1 to 200; this endpoint takes limit, cursor, afterSeq, deep"
    ],
    [
      "?a=1&b=1&c=1&d=1&e=1&f=1",
      "unknown_parameter",
      "a: unknown query parameter; b: unknown query parameter; c: unknown query parameter; d: unknown query parameter; e: unknown query parameter; and 1 more; this endpoint takes limit, cursor, afterSeq, deep"
    ],
    ["?limit=0", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=201", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=1e2", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=0x10", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=%205", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=-1", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=1.0", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?afterSeq=-1", "invalid_parameter", "afterSeq: expected a whole number from 0 to 9223372036854775807"],
    [
      "?afterSeq=9223372036854775808",
      "invalid_parameter",
      "afterSeq: expected a whole number from 0 to 9223372036854775807"
    ],
    ["?afterSeq=%D9%A1", "invalid_parameter", "afterSeq: expected a whole number from 0 to 9223372036854775807"],
    ["?%ff=1", "unknown_parameter", "%ff: unknown query parameter; this endpoint takes limit, cursor, afterSeq, deep"],
    [
      "?__proto__=1",
      "unknown_parameter",
      "__proto__: unknown query parameter; this endpoint takes limit, cursor, afterSeq, deep"
    ],
    ["?limit", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?limit=%ff", "limit_out_of_range", "limit: expected a whole number from 1 to 200"],
    ["?cursor=", "invalid_cursor", "cursor: expected a value with a length of at least 1"],
    ["?deep=yes", "invalid_parameter", 'deep: expected "true" | "false"']
  ]
  it.each(bad)("%s is refused", async (query, code, message) => {
    const answer = await list(query)
    assert.deepStrictEqual(answer.body, { error: "invalid_request", message, code })
    assert.strictEqual(answer.status, 400)
  })

  it("may hold the edges of its numbers", async () => {
    assert.deepStrictEqual((await list("?limit=1&afterSeq=0")).body, { rows: 1, afterSeq: 0 })
    assert.deepStrictEqual((await list("?limit=200&afterSeq=9223372036854775807")).body, {
      rows: 200,
      afterSeq: Number.MAX_SAFE_INTEGER
    })
    assert.deepStrictEqual((await list("")).body, { rows: 100 })
  })

  it("of an endpoint that takes none is refused, and its name is not repeated at length", async () => {
    const answer = await send(`${base}/v1/refuse?${"q".repeat(500)}=1`, { headers: auth })
    assert.strictEqual(answer.status, 400)
    assert.isBelow(answer.text.length, 300)
  })
})
