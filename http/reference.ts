/**
 * `/docs`: the reference page, and `/v1/openapi.json` that it shows. The page carries its script, and
 * its policy lets it talk to this server only: no request leaves the machine.
 *
 * `/docs/` leads to it, for who types it so.
 *
 * D1. Megabytes for whoever asks, without a credential: all are sent the same bytes, so that who does not read them
 *     holds nothing of this node's memory. (A text would be encoded once for each of them.)
 * D2. Nobody waits for them but who asked: a thread makes them when somebody first asks, once for all who ask
 *     meanwhile. Where that fails, those who wait are answered with a 500, and the next request has it tried again.
 */
import { Data, Effect, Fiber, FiberSet, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Worker } from "node:worker_threads"
import type { ReferencePages } from "./referencePages.ts"

export const referencePaths = ["/docs", "/docs/", "/v1/openapi.json"]

const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

export class ReferenceNotMade extends Data.TaggedError("ReferenceNotMade")<{ readonly cause: unknown }> {}

/** Made in a thread that knows nothing of the node: no environment, no settings, and files only to read its code. */
export const madeInThread = (program = new URL("./referenceThread.ts", import.meta.url)) =>
  Effect.callback<ReferencePages, ReferenceNotMade>((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(new ReferenceNotMade({ cause })))
    // A machine that has no thread left to give is no reason for the node to end.
    const begin = () => {
      try {
        return new Worker(program, {
          name: "reference",
          env: {},
          argv: [],
          execArgv: ["--permission", "--allow-fs-read=*"]
        })
      } catch (cause) {
        fail(cause)
        return undefined
      }
    }
    const worker = begin()
    if (worker === undefined) return
    worker.unref()
    worker.on("message", (pages: ReferencePages) => resume(Effect.succeed(pages)))
    worker.on("error", fail)
    // Who has answered has been heard before: this is for one that ends without a word.
    worker.on("exit", (code) => fail(new Error(`the thread ended with code ${code}`)))
    return Effect.promise(() => worker.terminate())
  })

/** D1. */
const answersOf = ({ document, page }: ReferencePages) => ({
  page: HttpServerResponse.uint8Array(page, {
    contentType: "text/html",
    headers: { "content-security-policy": policy, "referrer-policy": "no-referrer" }
  }),
  document: HttpServerResponse.uint8Array(document, { contentType: "application/json" })
})
type Answers = ReturnType<typeof answersOf>

/** D2. The making is nobody's: one who asked and left ends it for none of the others. */
const makeShared = Effect.fnUntraced(function* <E>(make: Effect.Effect<ReferencePages, E>) {
  const run = yield* FiberSet.makeRuntime<never>()
  let making: Fiber.Fiber<Answers, E> | undefined
  const begin = () => {
    const begun = run(Effect.map(make, answersOf))
    making = begun
    begun.addObserver((exit) => {
      if (exit._tag === "Failure") making = undefined
    })
    return begun
  }
  return Effect.suspend(() => Fiber.join(making ?? begin()))
})

/** `make`: what makes the pages. */
export const layer = <E>(make: Effect.Effect<ReferencePages, E>) =>
  Layer.unwrap(
    Effect.map(makeShared(make), (shared) => {
      const show = (name: keyof Answers) =>
        Effect.orDie(Effect.map(shared, (answers): HttpServerResponse.HttpServerResponse => answers[name]))
      return Layer.mergeAll(
        HttpRouter.add("GET", "/docs", show("page")),
        // Relative, so that it holds behind a proxy that gives the server a path of its own.
        HttpRouter.add("GET", "/docs/", HttpServerResponse.redirect("../docs")),
        HttpRouter.add("GET", "/v1/openapi.json", show("document"))
      )
    })
  )
