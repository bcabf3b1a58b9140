/**
 * Ends what the fault suite has started, however the suite itself ends: its standard input is a pipe from
 * the suite, with a line for each process (`+pid`, `-pid`) and folder (`/path`) to be cleared away.
 */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"

const pids = new Set<number>()
const folders: Array<string> = []

for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("/")) folders.push(line)
  else if (line.startsWith("+")) pids.add(Number(line))
  else pids.delete(-Number(line))
}
for (const pid of pids) {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended since.
  }
}
for (const folder of folders) {
  // It may be a volume of its own.
  spawnSync("umount", ["-l", folder], { stdio: "ignore" })
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
