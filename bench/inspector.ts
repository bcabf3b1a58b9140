/** Memory of a running Node process after garbage collection, asked over its inspector. */
import { readFile } from "node:fs/promises"
import { residentBytes } from "./processes.ts"

/** `log` holds the line that a process started with --inspect writes. */
export const openInspector = async (log: string, pid: number) => {
  const url = /ws:\/\/\S+/.exec(await readFile(log, "utf8"))?.[0]
  if (url === undefined) throw new Error(`${log} names no debugger`)
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", reject)
  })
  let last = 0
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener("message", ({ data }) => {
    const { id, result }: { id?: number; result?: unknown } = JSON.parse(String(data))
    if (id !== undefined) waiting.get(id)?.(result)
  })
  const call = (method: string) =>
    new Promise<unknown>((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method }))
    })
  return {
    /** Bytes of the heap in use and of the whole process, after a full collection. */
    collected: async () => {
      await call("HeapProfiler.collectGarbage")
      const usage = await call("Runtime.getHeapUsage")
      const used = typeof usage === "object" && usage !== null && "usedSize" in usage ? Number(usage.usedSize) : Number.NaN
      return { heap: used, resident: residentBytes(pid) }
    },
    close: () => socket.close()
  }
}
