/**
 * `script` of util-linux, which runs a command on a terminal of its own. What is written to its input was typed there.
 */
import { execFileSync } from "node:child_process"
import { Child, type ChildOptions } from "./Child.ts"

export const hasScript = (() => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux")
  } catch {
    return false
  }
})()

export const onTerminal = (command: string, options: Omit<ChildOptions, "input">) =>
  new Child("script", ["-qec", command, "/dev/null"], { ...options, input: true })
