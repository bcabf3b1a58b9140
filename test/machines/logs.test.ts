/** The logs that must come out, word for word, when something is sent while a turn samples its last response. */
import { assert, it } from "@effect/vitest"
import { Walk } from "./Walk.ts"

/** Lets every turn answer until the thread rests. */
const toRest = (walk: Walk) => {
  while (walk.context.turn !== null) walk.reply()
  return walk.text
}

it.each([
  [
    "queue Q",
    (walk: Walk) => walk.queue("Q"),
    "user(A) assistant(A) turn_completed(A) user(Q) assistant(Q) turn_completed(Q)"
  ],
  [
    "steer S during the last sample",
    (walk: Walk) => walk.steer("S"),
    "user(A) assistant(A) user(S, in A) assistant(A) turn_completed(A)"
  ],
  [
    "interrupt I, with Q queued",
    (walk: Walk) => walk.queue("Q").interrupt("I"),
    "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(Q) assistant(Q) turn_completed(Q)"
  ],
  [
    "steer S for A, then interrupt I",
    (walk: Walk) => walk.steer("S").interrupt("I"),
    "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(S) assistant(S) turn_completed(S)"
  ],
  [
    "steer S, then cancel",
    (walk: Walk) => walk.steer("S").cancel(),
    "user(A) turn_cancelled(A) user(S) assistant(S) turn_completed(S)"
  ]
] as const)("%s", (_, sent, log) => {
  assert.strictEqual(toRest(sent(new Walk().queue("A"))), log)
})
