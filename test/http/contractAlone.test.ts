/** The contract without the server: bundled for a browser, and used by a client that is made of it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { createContext, runInContext } from "node:vm"
import { rolldown } from "rolldown"
import { utf8Bytes } from "../../src/domain/text.ts"
import { freshId } from "../../src/seed.ts"
import { sharedServer, type TestServer } from "../setup/server.ts"
import type * as contractClient from "./contractClient.ts"

const root = join(import.meta.dirname, "../..")

/** The text of the bundle, and what it was made of, from the root of the repository. */
const bundled = async (entry: string) => {
  const asked: Array<string> = []
  const bundle = await rolldown({
    input: join(root, entry),
    platform: "browser",
    external: (id) => {
      if (isBuiltin(id)) asked.push(id)
      return false
    },
    onwarn: () => {}
  })
  const { output } = await bundle.generate({ format: "iife", name: "page", codeSplitting: false })
  await bundle.close()
  const [{ code, moduleIds }] = output
  return { asked, code, modules: moduleIds.map((id) => id.replace(`${root}/`, "")) }
}

/** What a page has; no `process`, no `Buffer`, no `require`. */
const pageContext = () =>
  createContext({
    AbortController,
    AbortSignal,
    // `fetch` is this realm's, and so is what it answers with.
    ArrayBuffer,
    Blob,
    clearInterval,
    clearTimeout,
    console,
    crypto,
    DOMException,
    fetch,
    File,
    FormData,
    Headers,
    performance,
    queueMicrotask,
    ReadableStream,
    Request,
    Response,
    setInterval,
    setTimeout,
    structuredClone,
    TextDecoder,
    TextEncoder,
    TransformStream,
    Uint8Array,
    URL,
    URLSearchParams
  })

describe("the contract", () => {
  let server: TestServer
  let found: Awaited<ReturnType<typeof bundled>>
  beforeAll(async () => {
    server = await sharedServer()
    found = await bundled("test/http/contractClient.ts")
  })
  afterAll(() => server?.stop())

  it("asks for nothing of Node, and for nothing of the server's", () => {
    assert.deepStrictEqual(found.asked, [])
    const own = found.modules.filter((path) => !path.includes("node_modules"))
    assert.include(own, "http/Api.ts")
    assert.deepStrictEqual(
      own.filter((path) => /\/(?:handlers|rows|Database|Journal|Idempotency|Gate)\.ts$/.test(path)),
      []
    )
    assert.deepStrictEqual(
      own.filter((path) => /^(?:actors|machines|src\/(?:database|journal|outbound|crypto|bus|telemetry))\//.test(path)),
      []
    )
    assert.deepStrictEqual(
      found.modules.filter((path) => /node_modules\/(?:kysely|pg|undici|ipaddr\.js|@effect)\//.test(path)),
      []
    )
  })

  it("counts bytes in a page as the server does", () => {
    const page: typeof contractClient = runInContext(`${found.code}\npage`, pageContext())
    for (const text of ["", "a", "é€𝄞", "\ud834", "\udd1ea", "x".repeat(5_000)])
      assert.strictEqual(page.utf8Bytes(text), utf8Bytes(text), JSON.stringify(text))
  })

  it("is a client of a server, in a page", async () => {
    const { clientOf }: typeof contractClient = runInContext(`${found.code}\npage`, pageContext())
    const { token } = server.alpha
    const client = await clientOf(server.base, token ?? "")
    try {
      const { agentId, first, madeAgent } = await client.converse("What can you do?")
      assert.strictEqual(agentId, madeAgent)
      assert.strictEqual(first, "user_message")
      assert.deepEqual(await client.refusalOf(freshId("thread")), { error: "not_found", status: 404 })
      const stranger = await clientOf(server.base, "trp_nobody")
      assert.deepEqual(await stranger.refusalOf(freshId("thread")), { error: "unauthenticated", status: 401 })
      await stranger.close()
    } finally {
      await client.close()
    }
  })
})
