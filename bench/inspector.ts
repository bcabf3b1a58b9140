/** What a running Node process says of its own memory, asked over its inspector. */
import { openSync, writeSync, closeSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { at } from "./adapters/Adapter.ts"
import { residentBytes } from "./processes.ts"

/** Bytes, by what holds them. */
export interface Memory {
  readonly heapTotal: number
  readonly heapUsed: number
  /** Outside of V8's heap, array buffers included. */
  readonly external: number
  readonly spaces: ReadonlyArray<{ readonly name: string; readonly size: number; readonly used: number }>
}

const memory = `(() => {
  const { heapTotal, heapUsed, external } = process.memoryUsage()
  const spaces = process.getBuiltinModule("node:v8").getHeapSpaceStatistics().map((s) => ({ name: s.space_name, size: s.space_size, used: s.space_used_size }))
  return JSON.stringify({ heapTotal, heapUsed, external, spaces })
})()`

/** `log` holds the line that a process started with --inspect writes; of several lives, the last one's counts. */
export const openInspector = async (log: string, pid: number) => {
  const url = [...(await readFile(log, "utf8")).matchAll(/ws:\/\/\S+/g)].at(-1)?.[0]
  if (url === undefined) throw new Error(`${log} names no debugger`)
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", reject)
  })
  let last = 0
  let onChunk = (_chunk: string) => {}
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener("message", ({ data }) => {
    const message: unknown = JSON.parse(String(data))
    if (at(message, "method") === "HeapProfiler.addHeapSnapshotChunk") onChunk(String(at(message, "params", "chunk")))
    waiting.get(Number(at(message, "id")))?.(at(message, "result"))
  })
  const call = (method: string, params?: object) =>
    new Promise<unknown>((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  const evaluate = async (expression: string) =>
    at(await call("Runtime.evaluate", { expression, returnByValue: true }), "result", "value")
  return {
    evaluate,
    /** Bytes of the heap in use and of the whole process, after a full collection. */
    collected: async () => {
      await call("HeapProfiler.collectGarbage")
      return { heap: Number(at(await call("Runtime.getHeapUsage"), "usedSize")), resident: residentBytes(pid) }
    },
    memory: async (): Promise<Memory> => JSON.parse(String(await evaluate(memory))),
    /** Writes all that the heap holds into a file, after a full collection: Chrome's format. */
    snapshot: async (path: string) => {
      const file = openSync(path, "w")
      onChunk = (chunk) => {
        writeSync(file, chunk)
      }
      await call("HeapProfiler.takeHeapSnapshot", { reportProgress: false })
      closeSync(file)
    },
    close: () => socket.close()
  }
}
