/** Whether a command that follows a thread gives up, or asks again. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import { isRefusal, request } from "../../src/cli/client.ts"

let server: Server
let base: string
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      server = createServer((request, response) => {
        const status = Number(request.url?.slice(1))
        response.writeHead(status).end(JSON.stringify({ error: "a_word", message: "404 is in the text of all" }))
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        base = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
        resolve()
      })
    })
)
afterAll(() => {
  server.close()
})

const failureOf = (path: string, at = base) => Effect.flip(request({ base: at, key: "trp_x" }, path))

describe("a request that fails", () => {
  for (const status of [400, 401, 404, 410, 429]) {
    it.effect(`with ${status} was refused`, () =>
      Effect.gen(function* () {
        const failure = yield* failureOf(`/${status}`)
        assert.strictEqual(failure.userMessage, `${status} a_word: 404 is in the text of all`)
        assert.isTrue(isRefusal(failure))
      })
    )
  }

  for (const status of [500, 502, 503]) {
    it.effect(`with ${status} may be asked again`, () =>
      Effect.map(failureOf(`/${status}`), (failure) => assert.isFalse(isRefusal(failure)))
    )
  }

  it.effect("for want of a server may be asked again", () =>
    Effect.map(failureOf("/404", "http://127.0.0.1:1"), (failure) => assert.isFalse(isRefusal(failure)))
  )
})
