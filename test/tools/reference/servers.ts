/**
 * The reference servers of the Model Context Protocol as npm has them, each over streamable HTTP, and a client of their
 * own SDK.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { mkdir, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { freePort } from "../../../src/postgres/cluster.ts"
import { Child } from "../../process/Child.ts"

const program = (name: string) =>
  resolve(import.meta.dirname, `../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)

/** The one that speaks streamable HTTP itself. It can be killed, and started again on its port. */
export const startEverything = async () => {
  const port = await freePort()
  const start = () =>
    new Child(process.execPath, [program("everything"), "streamableHttp"], { env: { PORT: String(port) } })
  const up = (child: Child) => child.until(/listening on port/)
  let running = start()
  await up(running)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill: () => running.end("SIGKILL"),
    startAgain: async () => {
      running = start()
      await up(running)
    },
    close: async () => void (await running.end("SIGKILL"))
  }
}
export type Everything = Awaited<ReturnType<typeof startEverything>>

/** Who calls has a folder of its own, so that what one writes is not there already for the other. */
export type Caller = "troupe" | "client"
export const callers: ReadonlyArray<Caller> = ["troupe", "client"]

const image = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

/** What is in the folders before the first call. */
const furnish = async (folder: string) => {
  await mkdir(join(folder, "inner"), { recursive: true })
  const files = {
    "notes.txt": "one\ntwo\nthree\n",
    "inner/deep.txt": "deep\n",
    "dot.png": image,
    "tone.wav": Buffer.from("RIFF"),
    "data.bin": Buffer.from([0, 1, 2, 255])
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
}

/** Those that speak over their standard input and output. */
export const stdioServers = async (home: string) => {
  const folders = callers.map((caller) => join(home, caller))
  await Promise.all(folders.map(furnish))
  const parameters = (args: ReadonlyArray<string>, env: Record<string, string> = {}) => ({
    command: process.execPath,
    args: [...args],
    env,
    stderr: "ignore" as const
  })
  return {
    filesystem: () => parameters([program("filesystem"), ...folders]),
    memory: (caller: Caller) => parameters([program("memory")], { MEMORY_FILE_PATH: join(home, `${caller}.jsonl`) }),
    sequentialthinking: () => parameters([program("sequential-thinking")])
  }
}
export type StdioServers = Awaited<ReturnType<typeof stdioServers>>

/** What a client on the servers' own SDK hears of them. */
export const connectClient = async (to: { readonly url: string } | ReturnType<StdioServers[keyof StdioServers]>) => {
  const client = new Client({ name: "reference", version: "1" })
  await client.connect("url" in to ? new StreamableHTTPClientTransport(new URL(to.url)) : new StdioClientTransport(to))
  const { tools } = await client.listTools()

  const asTask = async (name: string, input: Record<string, unknown>): Promise<CallToolResult> => {
    for await (const message of client.experimental.tasks.callToolStream({ name, arguments: input })) {
      if (message.type === "result") return CallToolResultSchema.parse(message.result)
      if (message.type === "error") throw message.error
    }
    throw new Error("the task ended without a result")
  }
  return {
    tools: tools.map(({ name }) => name),
    call: async (name: string, input: Record<string, unknown>): Promise<CallToolResult> => {
      if (tools.find((tool) => tool.name === name)?.execution?.taskSupport === "required")
        return await asTask(name, input)
      return CallToolResultSchema.parse(await client.callTool({ name, arguments: input }))
    },
    close: () => client.close()
  }
}
