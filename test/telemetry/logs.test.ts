import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WriteStream } from "node:tty"
import { layerLogs, mask, showsColours } from "../../src/telemetry/logs.ts"
import type { Lines } from "../../src/telemetry/lines.ts"

const recorder = () => {
  const written: Array<{ readonly line: string; readonly urgent: boolean }> = []
  const lines: Lines = { write: (line, urgent) => void written.push({ line, urgent }), flush: () => {} }
  return { written, lines }
}

const logged = (program: Effect.Effect<unknown>, level: "info" | "debug" | "none" = "info") =>
  Effect.gen(function* () {
    const { written, lines } = recorder()
    yield* program.pipe(Effect.provide(layerLogs({ level, format: "json", lines })))
    return written.map(({ line, urgent }) => ({ urgent, entry: JSON.parse(line) }))
  })

describe("logs", () => {
  it.effect("write only fields that are on the list", () =>
    Effect.gen(function* () {
      const [one] = yield* logged(
        Effect.logInfo("turn finished", { threadId: "thr_1", content: "my secret plan", authorization: "x" }).pipe(
          Effect.annotateLogs({ turnId: "trn_1", headers: { cookie: "y" }, text: "hello" })
        )
      )
      assert.deepStrictEqual(Object.keys(one?.entry).sort(), ["level", "message", "threadId", "time", "turnId"])
      assert.strictEqual(one?.entry.message, "turn finished")
      assert.notMatch(JSON.stringify(one), /secret plan|cookie|hello/)
    })
  )

  it.effect("mask keys, tokens and passwords wherever they stand", () =>
    Effect.gen(function* () {
      const key = "trp_abcdEFGH_0123456789012345678901234567890123456789"
      const [one] = yield* logged(
        Effect.logError(`refused ${key}`, new Error("Authorization: Bearer abc.def, postgres://u:pw@h/d"))
      )
      const text = JSON.stringify(one)
      assert.match(text, /trp_abcdEFGH_\*\*\*/)
      assert.notMatch(text, /0123456789|abc\.def|:pw@/)
      assert.strictEqual(mask("sk-proj-abcdefghij whsec_aGVsbG8="), "*** ***")
      assert.strictEqual(mask(`token trd_${"0".repeat(52)}-_abc`), "token ***")
    })
  )

  it.effect("say the cause of what went wrong, at once", () =>
    Effect.gen(function* () {
      const [one] = yield* logged(
        Effect.die(new Error("broken")).pipe(Effect.catchCause((cause) => Effect.logError("unhandled", cause)))
      )
      assert.isTrue(one?.urgent)
      assert.match(one?.entry.message + (one?.entry.cause ?? ""), /unhandled.*broken/s)
    })
  )

  it.effect("leave out what is below the level", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* logged(Effect.logDebug("x")), 0)
      assert.lengthOf(yield* logged(Effect.logDebug("x"), "debug"), 1)
      assert.lengthOf(yield* logged(Effect.logError("x"), "none"), 0)
    })
  )

  it.effect("for people have colours only where they are to have them", () =>
    Effect.gen(function* () {
      const pretty = Effect.fnUntraced(function* (coloured?: boolean) {
        const { lines, written } = recorder()
        const logs = layerLogs({ level: "info", format: "pretty", lines, ...(coloured !== undefined && { coloured }) })
        yield* Effect.logInfo("turn finished", { threadId: "thr_1" }).pipe(Effect.provide(logs))
        return written[0]?.line ?? ""
      })
      assert.match(yield* pretty(), /^[\d:.]{12} info {2}turn finished threadId=thr_1$/)
      assert.include(yield* pretty(true), "\u001b[32minfo \u001b[0m turn finished")
    })
  )
})

describe("colours", () => {
  const terminal = (environment: object) => ({
    isTTY: true,
    hasColors: () => WriteStream.prototype.hasColors(environment)
  })

  it("are for a terminal that shows them, and not where NO_COLOR is said", () => {
    const environment = { TERM: "xterm-256color" }
    assert.isTrue(showsColours(terminal(environment)))
    assert.isFalse(showsColours({ ...terminal(environment), isTTY: false }))
    assert.isFalse(showsColours({}))
    assert.isFalse(showsColours(terminal({ TERM: "dumb" })))
    for (const NO_COLOR of ["1", "0"]) assert.isFalse(showsColours(terminal({ ...environment, NO_COLOR })))
  })
})
