/** Keeps the gauges of this process fresh: event loop delay, memory, CPU. One timer, every 10 s. */
import { Effect, Layer } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { cpuSeconds, eventLoopDelay, heapUsed, record, residentMemory, startTime } from "./metrics.ts"

const quantiles = [
  ["0.5", 50],
  ["0.99", 99],
  ["1", 100]
] as const

export const layerProcessGauges = Layer.effectDiscard(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delay = monitorEventLoopDelay({ resolution: 20 })
      delay.enable()
      const read = () => {
        const memory = process.memoryUsage()
        const cpu = process.cpuUsage()
        record(residentMemory, memory.rss)
        record(heapUsed, memory.heapUsed)
        record(cpuSeconds, (cpu.user + cpu.system) / 1e6)
        for (const [quantile, percent] of quantiles) {
          record(eventLoopDelay.with({ quantile }), delay.count === 0 ? 0 : delay.percentile(percent) / 1e9)
        }
        delay.reset()
      }
      record(startTime, Math.round(Date.now() - process.uptime() * 1_000) / 1_000)
      read()
      const timer = setInterval(read, 10_000).unref()
      return () => {
        clearInterval(timer)
        delay.disable()
      }
    }),
    (stop) => Effect.sync(stop)
  )
)
