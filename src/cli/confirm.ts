/** A question to whoever sits at the terminal. It goes to standard error: standard output is for results. */
import { Effect } from "effect"
import { createInterface } from "node:readline/promises"

/** Somebody can read the question, and answer it. */
export const isInteractive = () => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Whether the answer is a yes; an end of the input is none. */
export const confirm = (question: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => createInterface({ input: process.stdin, output: process.stderr })),
    (lines) =>
      Effect.promise((signal) =>
        Promise.race([
          lines.question(`${question} [y/N] `, { signal }),
          new Promise<string>((resolve) => lines.once("close", () => resolve("")))
        ])
      ).pipe(Effect.map((answer) => /^y(es)?$/i.test(answer.trim()))),
    (lines) => Effect.sync(() => lines.close())
  )
