/** The MCP server that bench/tools calls, in a process of its own: prints its URL, and runs until it is killed. */
import { startMcpServer, type TestTool, usualTools } from "../test/tools/mcpServer.ts"

/** Tools that do the same under schemas that cost more and more to check. */
const repeating = (name: string, inputSchema: TestTool["inputSchema"]): TestTool => ({
  name,
  ...(inputSchema === undefined ? {} : { inputSchema }),
  run: ({ text }) => String(text)
})

const { url } = await startMcpServer({
  tools: [
    ...usualTools,
    repeating("bare", { type: "object" }),
    repeating("typed", { type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
    repeating("patterned", { type: "object", properties: { text: { type: "string", pattern: "^[a-z]{1,40}[0-9]*$" } } })
  ]
})
process.stdout.write(`${url}\n`)
