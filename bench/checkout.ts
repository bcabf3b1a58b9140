/** Another commit of this repository, checked out beside it. */
import { execFile, execFileSync } from "node:child_process"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

const here = resolve(import.meta.dirname, "..")

export const git = (...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", here, ...args], { encoding: "utf8" }).trim()

/**
 * With this one's packages; `remove` leaves nothing of it. Whoever serves others in this process goes on meanwhile: a
 * checkout takes seconds.
 */
export const checkOut = async (commit: string) => {
  const run = promisify(execFile)
  const temporary = await mkdtemp(join(tmpdir(), "troupe-version-"))
  const folder = join(temporary, "checkout")
  await run("git", ["-C", here, "worktree", "add", "--detach", folder, commit])
  await symlink(join(here, "node_modules"), join(folder, "node_modules"))
  const remove = async () => {
    await run("git", ["-C", here, "worktree", "remove", "--force", folder])
    await rm(temporary, { recursive: true })
  }
  return { folder, remove }
}
