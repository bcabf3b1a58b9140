/** What reaches a request of the program's services (L1, L2). */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { NetAddress } from "effect/net"
import { lean, leanServer } from "../../http/lean.ts"

class Named extends Context.Service<Named, string>()("troupe/http/named") {}
class OfHttp extends Context.Service<OfHttp, string>()("troupe/http/test") {}
class OfProgram extends Context.Service<OfProgram, string>()("troupe/src/test") {}

const keysOf = Effect.map(Effect.context<never>(), ({ mapUnsafe }) => [...mapUnsafe.keys()])
const program = Layer.mergeAll(
  Layer.succeed(Named, "named"),
  Layer.succeed(OfHttp, "http"),
  Layer.succeed(OfProgram, "program"),
  Layer.succeed(References.MinimumLogLevel, "Error")
)

it.effect("a lean layer is built with the services that it names, and without any other", () =>
  Effect.gen(function* () {
    let keys: ReadonlyArray<string> = []
    const watching = Layer.effectDiscard(
      Effect.map(keysOf, (found) => {
        keys = found
      })
    )
    yield* Effect.scoped(Layer.build(Layer.provide(lean(watching, Named), program)))
    assert.include(keys, Named.key)
    assert.notInclude(keys, OfHttp.key)
    assert.notInclude(keys, OfProgram.key)
    yield* Effect.scoped(Layer.build(Layer.provide(watching, program)))
    assert.include(keys, OfProgram.key)
  })
)

it.effect("a request begins with the references of the program, and with nothing else of it", () =>
  Effect.gen(function* () {
    let keys: ReadonlyArray<string> = []
    const inner = Layer.succeed(
      HttpServer.HttpServer,
      HttpServer.make({
        address: NetAddress.unixPathAddress("/none"),
        serve: () =>
          Effect.map(keysOf, (found) => {
            keys = found
          })
      })
    )
    const serving = Effect.flatMap(HttpServer.HttpServer, (server) =>
      server.serve(Effect.succeed(HttpServerResponse.empty()))
    )
    yield* Effect.scoped(Effect.provide(serving, Layer.provideMerge(Layer.provide(leanServer, inner), program)))
    assert.include(keys, References.MinimumLogLevel.key)
    assert.deepStrictEqual(
      keys.filter((key) => key.startsWith("troupe/")),
      []
    )
    assert.isTrue(
      keys.every((key) => /^effect\/(?:Scope|References\/|Logger\/)/.test(key)),
      keys.join(" ")
    )
  })
)
