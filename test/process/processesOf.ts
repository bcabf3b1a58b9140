/**
 * Which processes have to do with a folder: by their environment, their command line or the folder that they run in.
 */
import { readdir, readFile, readlink } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { isAlive } from "../../src/postgres/alive.ts"

/** Their numbers, each with its command. */
export const processesOf = async (
  folder: string
): Promise<ReadonlyArray<{ readonly pid: number; readonly command: string }>> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")
      const [environment, command, cwd] = await Promise.all([
        read("environ"),
        read("cmdline"),
        readlink(`/proc/${pid}/cwd`).catch(() => "")
      ])
      if (![environment, command, cwd].some((text) => text.includes(folder)) || !(await isAlive(Number(pid)))) return []
      return [{ pid: Number(pid), command: command.replaceAll("\u0000", " ").trim() }]
    })
  )
  return found.flat()
}

/** Milliseconds until none is left; fails, and names who is there, when that takes longer than `mostMs`. */
export const untilNoneOf = async (folder: string, mostMs: number) => {
  for (const start = performance.now(); ; ) {
    const left = await processesOf(folder)
    const ms = performance.now() - start
    if (left.length === 0) return ms
    if (ms > mostMs)
      throw new Error(
        `still there after ${mostMs} ms:\n${left.map(({ command, pid }) => `${pid} ${command}`).join("\n")}`
      )
    await sleep(20)
  }
}
