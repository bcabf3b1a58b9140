import { describe, expect, it } from "vitest"
import { fromProviderName, toProviderName } from "../../src/models/toolNames.ts"
import { called, promptOf } from "./prompts.ts"

const odd = [
  "mcp:files/read file",
  "9lives",
  "größe",
  "",
  "a.b",
  "x".repeat(65),
  `${"x".repeat(64)}y`,
  "a b",
  "a/b",
  "code_execution"
]

describe("the name of a tool at a provider", () => {
  it.each(["search", "a_b-c", "_x", "x".repeat(64)])("stays as it is when every provider takes it: %s", (name) => {
    expect(toProviderName(name)).toBe(name)
  })

  it("is safe for every provider, and never the same for two names", () => {
    const names = odd.map(toProviderName)
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    expect(new Set(names).size).toBe(odd.length)
  })

  it("of a toolset's tool says of which toolset it is, and stays apart from those that look alike", () => {
    const names = [
      "files.read",
      "files.read-all",
      "files_read.all",
      "files.read_all",
      "files.read.all",
      `${"n".repeat(32)}.${"t".repeat(128)}`,
      `${"n".repeat(32)}.${"t".repeat(127)}u`,
      "0.0",
      "a-b.c"
    ]
    const safe = names.map(toProviderName)
    expect(safe[0]).toMatch(/^files_read_[0-9a-f]{8}$/)
    expect(new Set(safe).size).toBe(names.length)
    const exact = fromProviderName(promptOf([], { tools: names.map((name) => ({ name, inputSchema: {} })) }))
    expect(safe.map(exact)).toEqual(names)
  })

  it("comes back exactly, from the prompt's tools and from its history", () => {
    const exact = fromProviderName(
      promptOf([called(["1", "old:name"])], { tools: odd.map((name) => ({ name, inputSchema: {} })) })
    )
    for (const name of [...odd, "old:name"]) expect(exact(toProviderName(name))).toBe(name)
    expect(exact("invented")).toBe("invented")
  })
})
