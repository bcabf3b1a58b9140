/** Ids of runs: an instant of a schedule has the same on every node, so that it fires once. */
import { hash } from "node:crypto"
import { alphabet, fromBytes, prefixes } from "../domain/ids.ts"

/** The first ten characters of an id that is born then. */
const timeChars = (ms: number) => {
  let text = ""
  for (let left = ms, i = 0; i < 10; i++, left = Math.floor(left / 32)) text = alphabet[left % 32] + text
  return text
}

export const runIdOf = (scheduleId: string, instant: number): string => {
  const digest = hash("sha256", `${scheduleId} ${instant}`, "buffer")
  return `${prefixes.scheduleRun}${timeChars(instant)}${fromBytes(digest.subarray(0, 16)).slice(3, 16)}000`
}
