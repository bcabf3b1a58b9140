/** What a start has to load. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { promisify } from "node:util"
import { root, textOf } from "./repository.ts"

describe("the programs", () => {
  it("import the parts of @effect/platform-node, not its index: that one brings a client of Redis along, twice as many modules as all else", () => {
    const files = globSync("{src,http,actors,machines}/**/*.ts", { cwd: root })
    assert.isAbove(files.length, 100)
    assert.deepStrictEqual(
      files.filter((file) => /from "@effect\/platform-node"/.test(textOf(file))),
      []
    )
  })

  it("load the SDK of MCP and the packages of models when they are first needed, not at a start", async () => {
    const program = `
      import { registerHooks } from "node:module"
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const late = () => loaded.filter((url) => /@modelcontextprotocol\\/|@ai-sdk\\/(?!provider\\/)/.test(url)).length
      await import("./src/main.ts")
      const atStart = late()
      await import("./src/tools/mcp/Session.ts")
      console.log(JSON.stringify([loaded.length > 500, atStart, late() > 0]))
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: root
    })
    assert.deepStrictEqual(JSON.parse(stdout), [true, 0, true])
  })
})
