/** The MCP server that bench/tools calls, in a process of its own: prints its URL, and runs until it is killed. */
import { startMcpServer } from "../test/tools/mcpServer.ts"

const { url } = await startMcpServer()
process.stdout.write(`${url}\n`)
