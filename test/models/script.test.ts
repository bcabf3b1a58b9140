import { describe, expect, it } from "vitest"
import { parseScript, type Script } from "../../src/models/script.ts"

const rounds = (script: Script) => script.rounds.length

describe("the script of a scripted model", () => {
  it("is plain text when no line begins with a slash", () => {
    expect(parseScript("hello\nworld / there")).toEqual({
      rounds: [{ calls: [], waitMs: 0, failures: [] }],
      plain: "hello\nworld / there"
    })
  })

  it("keeps plain lines between steps, and takes a step only at the very start of a line", () => {
    const script = parseScript("one\n/wait 10ms\n /call x\ntwo")
    expect(script.plain).toBe("one\n /call x\ntwo")
    expect(script.rounds).toEqual([{ calls: [], waitMs: 10, failures: [] }])
  })

  it("puts consecutive calls into one round, and what follows /then into the next", () => {
    const script = parseScript(`/call a {"x":1}\n/call b\n/then\n/call c [1,2]\n/then\n/wait 2s`)
    expect(script.rounds.map((round) => round.calls.map(({ name, input }) => [name, input]))).toEqual([
      [
        ["a", { x: 1 }],
        ["b", {}]
      ],
      [["c", [1, 2]]],
      []
    ])
    expect(script.rounds[2]?.waitMs).toBe(2000)
  })

  it("hands an input that is not JSON on as raw text", () => {
    expect(parseScript("/call a {x").rounds[0]?.calls).toEqual([{ name: "a", input: {}, invalidInput: "{x" }])
  })

  it("reads durations in ms and s, and adds several waits of a round", () => {
    expect(parseScript("/wait 250ms\n/wait 1.5s").rounds[0]?.waitMs).toBe(1750)
  })

  it("reads chunks with and without a pause", () => {
    expect(parseScript("/chunks 20 10ms").rounds[0]?.chunks).toEqual({ count: 20, pauseMs: 10 })
    expect(parseScript("/chunks 3").rounds[0]?.chunks).toEqual({ count: 3, pauseMs: 0 })
  })

  it("reads failures for every model and for one", () => {
    expect(
      parseScript("/fail model_error it broke\n/fail@troupe/scripted-paid model_overloaded").rounds[0]?.failures
    ).toEqual([
      { code: "model_error", text: "it broke" },
      { code: "model_overloaded", text: "scripted failure", model: "troupe/scripted-paid" }
    ])
  })

  it("reads how an answer ends that is not whole", () => {
    expect(parseScript("/finish length").rounds[0]?.finishReason).toBe("length")
    expect(parseScript("/finish content_filter").rounds[0]?.finishReason).toBe("content_filter")
    expect(parseScript("/break 0").rounds[0]?.breakAfter).toBe(0)
  })

  it("reads usage, and the final text over several lines", () => {
    const script = parseScript("/usage 10 20\n/say one\n/say two\r\n/say")
    expect(script.rounds[0]?.usage).toEqual({ inputTokens: 10, outputTokens: 20 })
    expect(script.spoken).toBe("one\ntwo\n")
  })

  it.each([
    "/call",
    "/wait",
    "/wait soon",
    "/wait 2d",
    "/wait 90000s",
    "/chunks",
    "/chunks 0 10ms",
    "/chunks 2 x",
    "/chunks 2 1ms 3",
    "/finish",
    "/finish stop",
    "/break",
    "/break off",
    "/break -1",
    "/fail",
    "/fail nonsense text",
    "/fail@ model_error",
    "/fail@m",
    "/usage 1",
    "/usage a b",
    "/usage 1 2 3",
    "/usage -1 2",
    "/unknown",
    "/"
  ])("fails the round of a step that cannot be read: %s", (line) => {
    const script = parseScript(`/call first\n/then\n${line}`)
    expect(rounds(script)).toBe(2)
    expect(script.rounds[0]?.failures).toEqual([])
    expect(script.rounds[1]?.failures.map(({ code }) => code)).toEqual(["model_error"])
  })
})
