/** Processes and folders that end with this one, even if it is killed (guard.ts). */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"

let guard: ChildProcess | undefined

const tell = (line: string) => {
  if (guard === undefined) {
    guard = spawn(process.execPath, [join(import.meta.dirname, "guard.ts")], {
      stdio: ["pipe", "inherit", "inherit"],
      detached: true
    })
    guard.unref()
  }
  guard.stdin?.write(`${line}\n`)
}

export const guardProcess = (pid: number | undefined) => {
  if (pid !== undefined) tell(`+${pid}`)
}
/** It has ended: its number may become another's. */
export const forgetProcess = (pid: number | undefined) => {
  if (pid !== undefined) tell(`-${pid}`)
}
export const guardFolder = (path: string) => tell(path)
