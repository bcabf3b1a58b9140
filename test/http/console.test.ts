/** What the server sends of the console, and by which names it may be asked. */
import { assert, describe, it } from "@effect/vitest"
import { request } from "node:http"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync } from "node:zlib"
import { isAllowedHost } from "../../http/hosts.ts"
import { during, folderDuring } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"

const script = "console.log('a script')"
const folder = await folderDuring("files")
await mkdir(join(folder, "assets"))
await writeFile(join(folder, "index.html"), '<!doctype html><meta nonce="TROUPE_NONCE"><p nonce="TROUPE_NONCE">page')
await writeFile(join(folder, "assets/a-1.js"), script)
await writeFile(join(folder, "assets/a-1.js.br"), brotliCompressSync(script))
await writeFile(join(folder, "assets/b-1.css"), "p{}")
const server = await during(startServer({ served: { console: folder, hosts: ["localhost", "troupe.example.com"] } }))
const without = await during(startServer({ served: { console: join(folder, "nowhere") } }))

interface Answer {
  readonly status: number | undefined
  readonly headers: Record<string, string | ReadonlyArray<string> | undefined>
  readonly body: Buffer
}

/** As Node sends it: `fetch` sets Host itself, and decodes what is compressed. */
const ask = (path: string, headers: Record<string, string> = {}, base = server.base, method = "GET") =>
  new Promise<Answer>((resolve, reject) => {
    const asked = request(base + path, { headers, method, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) })
      )
    })
    asked.on("error", reject)
    asked.end()
  })

describe("the console", () => {
  it("is one page under every address, kept by nobody, with a policy and a nonce of its own each time", async () => {
    const pages = await Promise.all(["/console", "/console/", "/console/threads/thr_1?seq=42"].map((path) => ask(path)))
    const nonces = pages.map(({ body, headers, status }) => {
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
      assert.strictEqual(headers["referrer-policy"], "no-referrer")
      assert.strictEqual(headers["cross-origin-opener-policy"], "same-origin")
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
      const policy = String(headers["content-security-policy"])
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'"
      ])
        assert.include(policy.split("; "), part)
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? assert.fail("the policy has no nonce")
      assert.strictEqual(body.toString(), `<!doctype html><meta nonce="${nonce}"><p nonce="${nonce}">page`)
      return nonce
    })
    assert.strictEqual(new Set(nonces).size, 3)
  })

  it("has assets that never change, compressed where that is understood", async () => {
    const plain = await ask("/console/assets/a-1.js")
    assert.strictEqual(plain.body.toString(), script)
    assert.strictEqual(plain.headers["cache-control"], "public, max-age=31536000, immutable")
    assert.strictEqual(plain.headers["content-type"], "text/javascript; charset=utf-8")
    assert.isUndefined(plain.headers["content-encoding"])
    const packed = await ask("/console/assets/a-1.js", { "accept-encoding": "gzip, br;q=0.9" })
    assert.deepStrictEqual([packed.headers["content-encoding"], packed.headers.vary], ["br", "accept-encoding"])
    assert.strictEqual(brotliDecompressSync(packed.body).toString(), script)
    const refused = await ask("/console/assets/a-1.js", { "accept-encoding": "br;q=0" })
    assert.strictEqual(refused.body.toString(), script)
    assert.strictEqual((await ask("/console/assets/b-1.css")).headers["content-type"], "text/css; charset=utf-8")
  })

  it("has no file that the build has not made, and takes nothing but GET", async () => {
    for (const path of ["/console/assets/none.js", "/console/assets/../index.html", "/console/assets/a-1.js.br"]) {
      const { body, status } = await ask(path)
      // A path that climbs out is another address of the page.
      if (path.includes("..")) assert.strictEqual(status, 200)
      else assert.deepStrictEqual([status, JSON.parse(body.toString()).error], [404, "not_found"])
    }
    const posted = await ask("/console/threads", {}, server.base, "POST")
    assert.deepStrictEqual([posted.status, posted.headers.allow], [405, "GET, HEAD"])
    assert.strictEqual((await ask("/consoles")).status, 404)
  })

  it("that was not built says how to", async () => {
    const { body, status } = await ask("/console", {}, without.base)
    assert.strictEqual(status, 503)
    assert.include(JSON.parse(body.toString()).message, "npm run console")
  })
})

describe("a name that requests come by", () => {
  it("is one of the server's, or an address", async () => {
    for (const host of ["localhost", "LOCALHOST:4100", "troupe.example.com", "127.0.0.1:9", "[::1]:4100"])
      assert.strictEqual((await ask("/healthz", { host })).status, 200, host)
    for (const path of ["/healthz", "/console", "/v1/threads", "/nowhere"]) {
      const { body, headers, status } = await ask(path, { host: "evil.example.com:4100" })
      assert.deepStrictEqual([status, JSON.parse(body.toString()).error], [421, "misdirected_request"], path)
      assert.isString(headers["x-request-id"])
    }
  })

  it("may be any where none is named", () => {
    assert.isTrue(isAllowedHost(["*"])("anything"))
    assert.isFalse(isAllowedHost(["a"])(undefined))
    assert.isFalse(isAllowedHost(["a"])("b:1"))
    assert.isTrue(isAllowedHost(["A.b"])("a.b."))
  })
})
