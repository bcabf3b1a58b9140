import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { HostPattern, OutboundUrl, outboundUrl, type Reach } from "../../src/domain/url.ts"
import { urlProblemOf } from "../../src/outbound/urls.ts"

const isUrl = Schema.is(OutboundUrl)

describe("a URL that is stored", () => {
  it("has at most 2048 bytes", () => {
    const url = (bytes: number) => `https://a.example/${"p".repeat(bytes - 18)}`
    assert.deepStrictEqual([url(2048).length, isUrl(url(2048)), isUrl(url(2049))], [2048, true, false])
    assert.isFalse(isUrl(`https://a.example/${"é".repeat(1016)}`))
  })

  for (const good of [
    "https://a.example",
    "https://a.example:8443/mcp/",
    "HTTPS://A.example/x",
    "http://localhost:3000/mcp",
    "https://[2606:4700::1111]/",
    "https://bücher.example/"
  ]) {
    it(`may be ${good}`, () => assert.isTrue(isUrl(good)))
  }
  for (const bad of [
    "",
    "a.example",
    "//a.example",
    "ftp://a.example",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    "https:a.example",
    "https:/a.example",
    "https:///a.example",
    "https://",
    "https://a b.example",
    " https://a.example",
    "https://a.example\n",
    "https://a.example\\@b.example",
    "https://a.exa\tmple",
    "https://u@a.example",
    "https://u:p@a.example",
    "https://:p@a.example",
    "https://@a.example",
    "https://a.example/?",
    "https://a.example/?q=1",
    "https://a.example/#",
    "https://a.example/#f",
    "https://a.example:99999",
    "https://1.2.3.4.5",
    "https://%00.example",
    "https://a.example/\u0000",
    "https://a.example/\ud800"
  ]) {
    it(`may not be ${JSON.stringify(bad)}`, () => assert.isFalse(isUrl(bad)))
  }

  it("may hold a query where that is allowed, never a fragment", () => {
    const isAny = Schema.is(outboundUrl({ query: true }))
    assert.deepStrictEqual([isAny("https://a.example/?q=1"), isAny("https://a.example/?q=1#f")], [true, false])
  })

  it("is one that can be asked as it is written, whatever passes", () => {
    const pieces = fc.constantFrom(
      "https://",
      "http://",
      "HTTPS:",
      "/",
      "//",
      "\\",
      "a.example",
      "u",
      ":",
      "p",
      "@",
      "?",
      "#",
      "%40",
      "%",
      "[::1]",
      "127.1",
      ".",
      "8443",
      "\t",
      " ",
      "é"
    )
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 8 }).map((found) => found.join("")),
      fc.array(pieces, { maxLength: 8 }).map((found) => `https://${found.join("")}`)
    )
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          fc.string({ unit: "binary" }).map((text) => `https://a.example/${text}`)
        ),
        (text) => {
          if (!isUrl(text)) return
          const url = new URL(text)
          assert.deepStrictEqual([url.username, url.password, url.search, url.hash], ["", "", "", ""])
        }
      ),
      { numRuns: 1_000 }
    )
  })
})

describe("a URL that is asked", () => {
  const reason = (url: string, allowPrivateNetwork = false, reach?: Reach) =>
    urlProblemOf(url, { allowPrivateNetwork, reach })?.reason

  it("is https, or http where private networks are allowed", () => {
    assert.deepStrictEqual(
      [reason("https://a.example"), reason("http://a.example"), reason("http://a.example", true)],
      [undefined, "forbidden_url", undefined]
    )
    for (const url of ["ftp://a.example", "ws://a.example", "file:///x", "nonsense"])
      assert.strictEqual(reason(url, true), "forbidden_url", url)
  })

  it("holds no credentials", () => {
    for (const url of ["https://u@a.example", "https://u:p@a.example", "https://:p@a.example"])
      assert.strictEqual(reason(url, true), "forbidden_url", url)
  })

  const hosts = ["api.example.com", "*.tools.example", "xn--bcher-kva.example"]
  for (const [url, listed] of [
    ["https://api.example.com/x", true],
    ["https://API.Example.COM:8443", true],
    ["https://a.tools.example", true],
    ["https://a.b.tools.example", true],
    ["https://bücher.example", true],
    ["https://tools.example", false],
    ["https://.tools.example", false],
    ["https://eviltools.example", false],
    ["https://api.example.com.evil.example", false],
    ["https://xapi.example.com", false],
    ["https://api.example.com.", false],
    ["https://example.com", false],
    ["https://8.8.8.8", false]
  ] as const) {
    it(`${listed ? "may" : "may not"} be ${url} where ${hosts.join(", ")} are allowed`, () => {
      assert.strictEqual(reason(url, false, { hosts }), listed ? undefined : "forbidden_url")
    })
  }

  it("is none where the list of hosts is empty", () =>
    assert.strictEqual(reason("https://a.example", false, { hosts: [] }), "forbidden_url"))

  it("is of one origin where one is held: scheme, host and port", () => {
    const held = { origin: "https://a.example:8443" }
    for (const [url, within] of [
      ["https://a.example:8443/x", true],
      ["https://A.example:8443", true],
      ["https://a.example", false],
      ["https://a.example:443", false],
      ["https://a.example:8444", false],
      ["http://a.example:8443", false],
      ["https://b.a.example:8443", false],
      ["https://a.example.:8443", false]
    ] as const)
      assert.strictEqual(reason(url, true, held), within ? undefined : "forbidden_url", url)
    assert.isUndefined(
      reason("https://a.example:443/x", false, { origin: "https://a.example" }),
      "the port that a scheme implies"
    )
  })
})

describe("a host pattern", () => {
  const is = Schema.is(HostPattern)
  for (const good of [
    "a",
    "localhost",
    "api.example.com",
    "*.example.com",
    "127.0.0.1",
    "a_b.example",
    "xn--bcher-kva.example",
    "a".repeat(63)
  ]) {
    it(`may be ${good.slice(0, 30)}`, () => assert.isTrue(is(good)))
  }
  for (const bad of [
    "",
    "*",
    "*.",
    "a.*",
    "*a.example",
    "*.*.a",
    "A.example",
    "a..b",
    ".a",
    "a.",
    "-a",
    "a-",
    "a:80",
    "https://a",
    "a/b",
    "bücher",
    "[::1]",
    "a".repeat(64),
    "a.".repeat(126) + "ab"
  ]) {
    it(`may not be ${JSON.stringify(bad.slice(0, 30))}`, () => assert.isFalse(is(bad)))
  }
})
