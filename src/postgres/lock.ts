/** A file that names the one process that may use a folder; stale once that process is gone. */
import { readFile, rm, writeFile } from "node:fs/promises"
import { isAlive, statOf } from "./alive.ts"

/**
 * When a process was started, in the kernel's ticks: tells a pid from one that was given again. Empty where /proc is
 * missing.
 */
const born = async (pid: number) => (await statOf(pid))[19] ?? ""

/** The live process that the file names. */
export const holder = async (path: string): Promise<number | undefined> => {
  const [pid, birth] = (await readFile(path, "utf8").catch(() => "")).trim().split(" ")
  return Number(pid) > 0 && (await isAlive(Number(pid))) && (await born(Number(pid))) === (birth ?? "")
    ? Number(pid)
    : undefined
}

/** Resolves to what gives the lock back. Fails while another process holds it. */
export const lock = async (path: string): Promise<() => Promise<void>> => {
  const mine = `${process.pid} ${await born(process.pid)}\n`
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(path, mine, { flag: "wx", mode: 0o600 })
      return async () => {
        if ((await readFile(path, "utf8").catch(() => "")) === mine) await rm(path, { force: true })
      }
    } catch (cause) {
      if (attempt === 3) throw cause
    }
    const pid = await holder(path)
    if (pid !== undefined) {
      throw new Error(`another server (pid ${pid}) uses this data folder: stop it, or give TROUPE_DATA another folder`)
    }
    await rm(path, { force: true })
  }
}
