/**
 * Has V8 optimize a function after a hundred calls instead of three thousand, and twenty after it has met a new kind of
 * object instead of five hundred. With the defaults a quarter of a busy server's time was spent in half-optimized code
 * after half a minute of load (docs/benchmarks.md). For servers, once all is loaded and before anything is called
 * often: a start, and a command that soon ends, would only pay for it.
 */
import { flushCompileCache } from "node:module"
import { setFlagsFromString } from "node:v8"

// What was compiled with other flags is not taken at the next start.
flushCompileCache()

setFlagsFromString("--invocation-count-for-turbofan=100")
setFlagsFromString("--minimum-invocations-after-ic-update=20")

// The old generation is collected when it has doubled. V8 waits longer: three hundred megabytes of garbage for a
// hundred and twenty that live (docs/benchmarks.md).
setFlagsFromString("--heap-growing-percent=100")

// Buffers count as what else lives, in one limit. By itself V8 begins a collection of the old generation with every
// thirty-two megabytes of buffers, whatever it holds: beside a client that sends megabytes to be refused, one every two
// seconds, each of which takes a quarter of a second from those who share the cores (docs/decisions/026-engine.md).
setFlagsFromString("--external-memory-accounted-in-global-limit")
