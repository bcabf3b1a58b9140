/** Another commit of this repository, checked out beside it. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const here = resolve(import.meta.dirname, "..")

export const git = (...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", here, ...args], { encoding: "utf8" }).trim()

/** With this one's packages; `remove` leaves nothing of it. */
export const checkOut = (commit: string) => {
  const temporary = mkdtempSync(join(tmpdir(), "troupe-version-"))
  const folder = join(temporary, "checkout")
  git("worktree", "add", "--detach", folder, commit)
  symlinkSync(join(here, "node_modules"), join(folder, "node_modules"))
  const remove = () => {
    git("worktree", "remove", "--force", folder)
    rmSync(temporary, { recursive: true })
  }
  return { folder, remove }
}
