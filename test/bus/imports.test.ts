/** No module of the bus needs another one to be loaded first: whoever asks for one alone gets it. */
import { assert, describe, it, vi } from "vitest"

const modules = {
  hints: () => import("../../src/bus/hints.ts"),
  topics: () => import("../../src/bus/topics.ts"),
  interest: () => import("../../src/bus/interest.ts"),
  inProcess: () => import("../../src/bus/inProcess.ts"),
  nats: () => import("../../src/bus/nats.ts"),
  Bus: () => import("../../src/bus/Bus.ts")
}

describe("a module of the bus", () => {
  it.each(Object.entries(modules))("loads before all others: %s", async (_, load) => {
    vi.resetModules()
    assert.isNotEmpty(Object.keys(await load()))
  })
})
