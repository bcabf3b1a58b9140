/** CPU and memory of process trees, from /proc: Linux only. */
import { readdirSync, readFileSync } from "node:fs"

const ticksPerSecond = 100
const pageBytes = 4096

interface Process {
  readonly parent: number
  readonly cpuMs: number
  readonly rssBytes: number
}

const read = (pid: number): Process | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return {
      parent: Number(fields[1]),
      cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond,
      rssBytes: Number(fields[21]) * pageBytes
    }
  } catch {
    return undefined
  }
}

/** The process and all that descend from it now. */
export const tree = (root: number) => {
  const all = new Map<number, Process>()
  for (const name of readdirSync("/proc")) {
    const one = /^\d+$/.test(name) ? read(Number(name)) : undefined
    if (one !== undefined) all.set(Number(name), one)
  }
  const wanted = new Set(all.has(root) ? [root] : [])
  for (let grew = true; grew; ) {
    grew = false
    for (const [pid, { parent }] of all) {
      if (!wanted.has(pid) && wanted.has(parent)) {
        wanted.add(pid)
        grew = true
      }
    }
  }
  return new Map([...wanted].map((pid) => [pid, all.get(pid)!]))
}

/** Counts the CPU that a tree uses until `stop`, children that come meanwhile included, and its largest memory. */
export const watch = (root: number, everyMs = 250) => {
  const before = new Map([...tree(root)].map(([pid, one]) => [pid, one.cpuMs]))
  const last = new Map(before)
  let peakBytes = 0
  const sample = () => {
    let bytes = 0
    for (const [pid, one] of tree(root)) {
      last.set(pid, one.cpuMs)
      bytes += one.rssBytes
    }
    peakBytes = Math.max(peakBytes, bytes)
  }
  sample()
  const timer = setInterval(sample, everyMs)
  return {
    stop: () => {
      clearInterval(timer)
      sample()
      let cpuMs = 0
      for (const [pid, ms] of last) cpuMs += ms - (before.get(pid) ?? 0)
      return { cpuMs, peakBytes }
    }
  }
}

export const residentBytes = (pid: number) => read(pid)?.rssBytes ?? 0
