/** Threads whose first turn runs, with inputs that wait behind it. */
import { Walk } from "./Walk.ts"

export const running = (...queued: ReadonlyArray<string>) =>
  queued.reduce((walk, name) => walk.queue(name), new Walk().queue("A"))
