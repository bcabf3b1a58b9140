/** What a profile lets its agent do in a memory store. */
import type { ProfileMemory } from "../agents/profile.ts"

export type StoreName = keyof ProfileMemory

/** Verbs that change nothing. */
const reading = new Set(["get", "list", "search"])

export const mayInStore = (memory: ProfileMemory, store: StoreName, verb: string) =>
  memory[store] === "rw" || (memory[store] === "r" && reading.has(verb))

/** The store that a call of a tool is about, by its input: its own unless it says so. */
export const storeIn = (input: unknown): StoreName =>
  typeof input === "object" && input !== null && "store" in input && input.store === "workspace" ? "workspace" : "agent"
