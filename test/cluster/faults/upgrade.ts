/** Two versions side by side, as during every rolling upgrade and its rollback. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Fault } from "../experiment.ts"
import { handOver, moment } from "./nodes.ts"

const here = resolve(import.meta.dirname, "../../..")
/** How long two versions share the work, each time. */
const togetherMs = 6_000

const git = (...args: ReadonlyArray<string>) => execFileSync("git", ["-C", here, ...args], { encoding: "utf8" }).trim()

/** A commit checked out beside this one, with this one's packages. */
const checkOut = (commit: string) => {
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

export const versionsName = "rollback of all nodes to an older version, one by one, and their upgrade again"

/** All nodes go back to `commit` one by one under load, and then forth again. */
export const versions = (commit: string): Fault => ({
  name: versionsName,
  bar: "no violation; longest silence ≤ 2 s; no request fails after one retry",
  inject: async ({ cluster, sleep }) => {
    const { folder, remove } = checkOut(commit)
    try {
      const from = await moment(cluster)
      const codes: Array<unknown> = []
      for (const checkout of [folder, here]) {
        for (const node of cluster.nodes) {
          codes.push(await node.leave())
          node.checkout = checkout
          await node.start()
          await sleep(togetherMs)
        }
      }
      const to = await moment(cluster)
      return (run) => handOver(run, from, to, codes.every((code) => code === 0) ? `${codes.length} nodes left and came, with ${git("rev-parse", "--short", commit)}` : undefined)
    } finally {
      for (const node of cluster.nodes) node.checkout = here
      remove()
    }
  }
})
