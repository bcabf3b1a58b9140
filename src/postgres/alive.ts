/**
 * Whether a process still runs. One that has ended and whose parent has not asked for its exit code (a zombie, for ever
 * so in a container without a reaper) still has its number and takes signals, and holds nothing any more.
 */
import { readFile } from "node:fs/promises"

const ended = new Set(["Z", "X"])

/**
 * Fields of /proc/<pid>/stat after the program's name: first the state. Empty where /proc is missing, or there is no
 * such process.
 */
export const statOf = async (pid: number): Promise<ReadonlyArray<string>> => {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  return text === "" ? [] : text.slice(text.lastIndexOf(")") + 2).split(" ")
}

export const isAlive = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // It runs, as another user.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false
  }
  const [state = ""] = await statOf(pid)
  return !ended.has(state)
}
