/** What bench/console.ts measures, each against its bar (docs/benchmarks.md). */
import { holdsIn } from "../test/setup/consolePage.ts"
import type { Browser, Page } from "playwright-core"
import { type Http, message } from "./turns.ts"
import { at, connect, pause, text } from "./adapters/Adapter.ts"
import {
  countRequests,
  keyToPaint,
  leapOfSlider,
  litAfterChart,
  longTasks,
  stepsOfSlider,
  usedHeap
} from "./consoleProbes.ts"
import type { Found } from "./report.ts"
import { limits } from "../src/domain/limits.ts"
import { quantile, summarize } from "./statistics.ts"
import type { System } from "./systems.ts"

const p95 = (values: ReadonlyArray<number>) => quantile(Float64Array.from(values).sort(), 0.95)
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`

/** A tab of a browser profile of its own: nothing is in its cache. */
const withPage = async <A>(browser: Browser, use: (page: Page) => Promise<A>) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    return await use(page)
  } finally {
    await context.close()
  }
}

/** Milliseconds from the address to what `arrived` waits for. */
const opened = async (page: Page, { target }: System, path: string, arrived: () => Promise<unknown>) => {
  const start = performance.now()
  await page.goto(`${target.origin}/console${path}#key=${target.key}`)
  await arrived()
  return performance.now() - start
}

export const signIn = async (browser: Browser, system: System, found: Found) => {
  const times: Array<number> = []
  for (let i = 0; i < 20; i++)
    times.push(
      await withPage(browser, (page) =>
        opened(page, system, "/", async () => {
          await page.locator("li[data-id]").first().waitFor()
          await page.keyboard.press("j")
          await page.locator("li[data-id]:focus").waitFor()
        })
      )
    )
  const { p50 } = summarize(times)
  found(
    "sign-in to an inbox that takes keys",
    `p50 ${ms(p50)}, p95 ${ms(p95(times))}`,
    "p50 at most 1,000 ms",
    p50 <= 1_000
  )
}

export const longLog = async (browser: Browser, system: System, thread: string, found: Found) => {
  const firstEvents: Array<number> = []
  const firstCharts: Array<number> = []
  for (let i = 0; i < 5; i++) {
    await withPage(browser, async (page) =>
      firstEvents.push(
        await opened(page, system, `/threads/${thread}?view=events`, () =>
          page.locator("details.event").first().waitFor()
        )
      )
    )
    await withPage(browser, async (page) =>
      firstCharts.push(
        await litAfterChart(page, () => opened(page, system, `/threads/${thread}/chart`, async () => {}))
      )
    )
  }
  const [events, chart] = [summarize(firstEvents).p50, summarize(firstCharts).p50]
  found("first events of the long log", `p50 ${ms(events)}`, "at most 1,000 ms", events <= 1_000)
  found("its chart, after the data came", `p50 ${ms(chart)}`, "at most 100 ms", chart <= 100)

  const near = await withPage(browser, async (page) => {
    await opened(page, system, `/threads/${thread}/chart`, () => page.locator(".state.lit").first().waitFor())
    // Its steps have come; the stream stays open, so that the page is never idle.
    await holdsIn(page, `performance.getEntriesByType("resource").some(({ name }) => /\\/steps\\b/.test(name))`)
    return stepsOfSlider(page, 500)
  })
  found(
    "a step of the slider within what is loaded: script, style and layout",
    `p95 ${ms(p95(near))}`,
    "at most 16 ms",
    p95(near) <= 16
  )
  const far: Array<number> = []
  let requests = 0
  for (let i = 0; i < 20; i++) {
    await withPage(browser, async (page) => {
      await opened(page, system, `/threads/${thread}/chart`, () => page.locator(".state.lit").first().waitFor())
      const slider = page.getByRole("slider", { name: "Position in the log" })
      const end = Number(await slider.getAttribute("max"))
      const counted = countRequests(page, /\/chart\?/)
      const pos = Math.floor((end * (i + 1)) / 22)
      far.push(await leapOfSlider(page, pos))
      requests = Math.max(requests, counted.stop())
    })
  }
  found(
    "a step of the slider elsewhere",
    `p95 ${ms(p95(far))}, requests ${requests}`,
    "at most 100 ms and one request",
    p95(far) <= 100 && requests <= 1
  )
}

/** Without a browser: what the server takes for the steps of the whole log, and for single moments. */
export const serverSteps = async (system: System, thread: string, found: Found) => {
  const http = connect(system.target)
  const end = Number(at(await http.get(`/v1/threads/${thread}`), "lastSeq"))
  const moments: Array<number> = []
  for (let i = 0; i < 220; i++) {
    const seq = 1 + Math.floor((((i * 7919) % 9973) / 9973) * (end - 1))
    const start = performance.now()
    await http.get(`/v1/actors/${thread}/chart?seq=${seq}`)
    if (i >= 20) moments.push(performance.now() - start)
  }
  const whole: Array<number> = []
  let steps = 0
  for (let i = 0; i < 5; i++) {
    steps = 0
    const start = performance.now()
    for (let cursor = ""; ; ) {
      const page = await http.get(`/v1/actors/${thread}/steps?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`)
      const { nextCursor, steps: some } = page as { nextCursor?: string; steps: ReadonlyArray<unknown> }
      steps += some.length
      if (nextCursor === undefined) break
      cursor = encodeURIComponent(nextCursor)
    }
    if (i > 0) whole.push(performance.now() - start)
  }
  await http.close()
  const [all, one] = [summarize(whole).p50, summarize(moments).p50]
  found(`all ${steps} steps of the long log, from the server`, ms(all), "at most 300 ms", all <= 300)
  found("chart?seq= in it", `p50 ${ms(one)}, p95 ${ms(p95(moments))}`, "p50 at most 30 ms", one <= 30)
}

/** Inputs that wait at most: half of what a thread takes before it refuses more. */
const mostPending = limits.pendingInputs / 2

const pendingMs = 20

const pendingOf = async (http: Http, thread: string) => {
  const queued = at(await http.get(`/v1/threads/${thread}`), "queued")
  if (!Array.isArray(queued)) throw new Error("a thread says what waits in it")
  return queued.length
}

/**
 * Messages into one thread, each a turn of three events with deltas, so often a second; fewer where the machine ends
 * fewer turns.
 */
const flood = (http: Http, thread: string, turnsPerSecond: number) => {
  let isOver = false
  let sent = 0
  const content = [{ type: "text", text: "What goes on? Tell me in a few words.\n/chunks 4 1ms" }]
  const done = (async () => {
    const start = performance.now()
    /** How many may be sent before it is asked again how many wait. */
    let room = mostPending
    while (!isOver) {
      if (room === 0) {
        room = mostPending - (await pendingOf(http, thread))
        if (room === 0) await pause(pendingMs)
        continue
      }
      await http.post(`/v1/threads/${thread}/messages`, { content })
      room--
      sent++
      const ahead = (sent / turnsPerSecond) * 1_000 - (performance.now() - start)
      if (ahead > 0) await pause(ahead)
    }
  })()
  return {
    stop: async () => {
      isOver = true
      await done
      return sent
    }
  }
}

export const liveThread = async (browser: Browser, system: System, seconds: number, found: Found) => {
  const http = connect(system.target)
  for (const [view, path] of [
    ["conversation", ""],
    ["chart", "/chart"]
  ] as const) {
    const made = await http.post("/v1/threads", { agentId: system.target.agents[0], message })
    const thread = text(made, "thread", "id")
    await withPage(browser, async (page) => {
      await opened(page, system, `/threads/${thread}${path}`, () =>
        page
          .locator(view === "chart" ? ".state.lit" : "textarea")
          .first()
          .waitFor()
      )
      const heap = await usedHeap(page)
      const tasks = await longTasks(page)
      const before = Number(at(await http.get(`/v1/threads/${thread}`), "lastSeq"))
      const flooding = flood(http, thread, 200 / 3)
      const start = performance.now()
      const typed = view === "chart" ? undefined : await keyToPaint(page, "textarea", seconds * 1_000)
      if (view === "chart") await pause(seconds * 1_000)
      const took = (performance.now() - start) / 1_000
      await flooding.stop()
      const events = Number(at(await http.get(`/v1/threads/${thread}`), "lastSeq")) - before
      const longest = await tasks.longest()
      const grown = ((await usedHeap(page)) - heap) / 1_000_000
      found(`events a second into the ${view} that is open`, (events / took).toFixed(0))
      found(`its longest task`, ms(longest), "at most 200 ms", longest <= 200)
      if (typed !== undefined) {
        const late = p95(typed)
        found(`key to paint in the composer, ${typed.length} keys`, `p95 ${ms(late)}`, "at most 100 ms", late <= 100)
      }
      found("memory that it takes more, collected", `${grown.toFixed(0)} MB`, "at most 50 MB", grown <= 50)
    })
  }
  await http.close()
}

export const manyThreads = async (browser: Browser, system: System, found: Found) => {
  const http = connect(system.target)
  const [agentId] = system.target.agents
  for (const [name, filter] of [
    ["all", ""],
    ["by status", "&status=idle"],
    ["by a status that none has", "&status=failed"],
    ["by agent", `&agentId=${agentId}`],
    ["by an identity that none has", "&identity=nobody@example.com"]
  ] as const) {
    const times: Array<number> = []
    let cursor = ""
    for (let i = 0; i < 210; i++) {
      const start = performance.now()
      const page = await http.get(`/v1/threads?limit=50${filter}${cursor}`)
      if (i >= 10) times.push(performance.now() - start)
      const next = at(page, "nextCursor")
      cursor = typeof next === "string" ? `&cursor=${encodeURIComponent(next)}` : ""
    }
    const late = p95(times)
    found(`a page of threads, ${name}`, `p95 ${ms(late)}`, "at most 50 ms", late <= 50)
  }
  await http.close()
  await withPage(browser, async (page) => {
    await opened(page, system, "/threads", () => page.locator(".rows > li").first().waitFor())
    let most = 0
    for (let i = 0; i < 20; i++) {
      await page.mouse.move(600, 500)
      await page.mouse.wheel(0, 3_000)
      await page.waitForTimeout(100)
      most = Math.max(most, await page.locator(".rows > li").count())
    }
    found("rows in the document, 20 pages down", String(most), "at most 100", most <= 100)
  })
}
