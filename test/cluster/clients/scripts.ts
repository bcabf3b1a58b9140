/** What the scripted models of the workload are told to do. */

/** Of a user's message: most turns are short. */
export const scripts = [
  "",
  "",
  "",
  "",
  "/wait 50ms",
  "/wait 200ms",
  "/wait 800ms",
  "/chunks 5 20ms",
  "/call nope {}",
  "/call nope {}\n/call neither {}\n/then\n/call more {}\n/wait 50ms",
  '/call desk.lookup {"q":1}',
  '/call desk.lookup {"q":1}\n/call desk.lookup {"q":2}',
  "/call desk.guarded {}",
  "/call desk.forgotten {}",
  "/call bank.charge {}",
  "/call bank.look {}\n/call bank.charge {}",
  "/fail model_error no"
]

/** Forty steps of a fifth of a second: a turn that always has a next event soon. */
export const longScript = Array.from({ length: 40 }, () => "/wait 200ms\n/call nope {}").join("\n/then\n")

/** At any moment a model is being asked whose response calls the tool that must not run twice, or that tool runs. */
export const chargingScript = Array.from({ length: 16 }, () => "/wait 250ms\n/call bank.charge {}").join("\n/then\n")

/** Two or three of these are more than a small window holds: what came before is summarised. */
export const wordyScript = "word ".repeat(400)

/** A turn that is silent for longer than a takeover takes: whoever owned it before finds nothing changed. */
export const sleepyScript = Array.from({ length: 4 }, () => "/wait 8s\n/call nope {}").join("\n/then\n")
