/**
 * Tells V8 that it runs a server, which goes on for weeks (docs/decisions/026-engine.md). A server imports this once
 * all is loaded and before anything is called often: a start, and a command that soon ends, would only pay for it.
 */
import { flushCompileCache } from "node:module"
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8"
import { threadCpuMs } from "../threadCpu.ts"

// Before the flags: V8 does not take at the next start what was compiled with other ones.
flushCompileCache()

// The old generation is collected when it holds this much, or has grown by seven tenths where more lives in it. V8
// waits longer: three hundred megabytes of garbage for a hundred and twenty that live (docs/benchmarks.md). The memory
// goes to a young generation of twice the size, which only who starts Node can set: the scripts of package.json,
// docker-compose.yml. V8 has no setting for a size, so after each collection it is told a growth that leads there.
const collectedAtBytes = 140 * 1024 * 1024
const growth = { leastPercent: 70, mostPercent: 120 }

/** Told before the next collection: `liveBytes` are what the last one left. */
const growFrom = (liveBytes: number) => {
  const percent = (collectedAtBytes / liveBytes - 1) * 100
  const within = Math.min(growth.mostPercent, Math.max(growth.leastPercent, Math.round(percent)))
  setFlagsFromString(`--heap-growing-percent=${within}`)
}

const oldGenerationBytes = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith("new_"))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)

growFrom(oldGenerationBytes())

// The young generation grows sixfold at a time. V8 makes it as small as a megabyte while little happens, and then
// doubles it each time that as much as it holds has survived, which takes a busy server seconds and some fifty
// collections. All at once would be more than sixteen clients need: what is walked through again and again has to fit
// into the caches. Not where the heap is small: V8 begins to collect the old generation as soon as less is left in it
// than the young one has room for, and there that is always.
const roomyBytes = 1024 * 1024 * 1024
if (getHeapStatistics().heap_size_limit >= roomyBytes) setFlagsFromString("--semi-space-growth-factor=6")

// Nothing is born old. V8 puts what a place in the code makes into the old generation at once when most of it survived
// a while ago. Of a turn nearly all survives while the young generation is small, and nothing a second later: a third
// of what the old generation was collected for had been dead in it from the start, and each such decision throws
// compiled code away.
setFlagsFromString("--no-allocation-site-pretenuring")

// Buffers count in one limit with all else that lives. By itself V8 begins a collection of the old generation with
// every thirty-two megabytes of buffers, whatever the heap holds: beside a client that sends megabytes to be refused,
// one every two seconds, each of which takes a quarter of a second from those who share the cores.
setFlagsFromString("--external-memory-accounted-in-global-limit")

// One thread marks what lives while the server goes on. V8 uses up to four: where a node shares two cores with a
// database and other nodes, its own thread stood in line behind them, every three seconds beside a client that kept it
// busy.
setFlagsFromString("--concurrent-marking-max-worker-num=1")

/** Share of a core (0 to 1), over the last second, above which V8 compiles eagerly. */
const eagerShare = 0.5
const lookMs = 1_000

const optimizeAfter = (calls: number, callsAfterUpdate: number) => {
  setFlagsFromString(`--invocation-count-for-turbofan=${calls}`)
  setFlagsFromString(`--minimum-invocations-after-ic-update=${callsAfterUpdate}`)
}

// While this thread has most of a core, V8 optimizes a function after a hundred calls instead of three thousand, and
// twenty after it has met a new kind of object instead of five hundred: with its defaults a quarter of a busy server's
// time was spent in half-optimized code after half a minute of load. A node that has less to do, or shares its cores,
// calls a function too seldom to repay its compilation. The compiler would then take as much CPU as the node itself,
// from other nodes and from the database too, so V8's defaults stay. They stay as well where Node cannot tell what a
// thread has used.
let before = { at: performance.now(), cpuMs: threadCpuMs() ?? 0, oldBytes: oldGenerationBytes() }
let eager = false
setInterval(() => {
  const now = { at: performance.now(), cpuMs: threadCpuMs() ?? 0, oldBytes: oldGenerationBytes() }
  // Less than a second ago: there was a collection between.
  if (now.oldBytes < before.oldBytes) growFrom(now.oldBytes)
  const busy = now.cpuMs - before.cpuMs > eagerShare * (now.at - before.at)
  before = now
  if (busy === eager) return
  eager = busy
  if (eager) optimizeAfter(100, 20)
  else optimizeAfter(3_000, 500)
}, lookMs).unref()
