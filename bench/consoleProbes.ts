/** What a page tells of itself: its long tasks, how soon a key is painted, what a step of the slider takes. */
import type { Page } from "playwright-core"
import { holdsIn } from "../test/setup/consolePage.ts"

/** Requests that match, from now on. */
export const countRequests = (page: Page, of: RegExp) => {
  let count = 0
  const heard = (request: { url: () => string }) => {
    if (of.test(request.url())) count++
  }
  page.on("request", heard)
  return {
    stop: () => {
      page.off("request", heard)
      return count
    }
  }
}

/** Bytes of the page's heap, after a collection. */
export const usedHeap = async (page: Page) => {
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  await session.detach()
  return usedSize
}

/** Tasks of more than 50 ms, as the browser counts them, from now on. */
export const longTasks = async (page: Page) => {
  await page.evaluate(`{
    globalThis.longestTask = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask, duration)
    }).observe({ type: "longtask" })
  }`)
  return { longest: () => page.evaluate<number>("globalThis.longestTask") }
}

/** Types five keys a second for so long; milliseconds from each key to the paint that shows it, 16 where it was less. */
export const keyToPaint = async (page: Page, selector: string, lengthMs: number) => {
  await page.evaluate(`{
    globalThis.keys = []
    new PerformanceObserver((list) => {
      for (const { duration, name } of list.getEntries()) if (name === "keydown") globalThis.keys.push(duration)
    }).observe({ type: "event", durationThreshold: 16 })
  }`)
  await page.locator(selector).first().focus()
  let typed = 0
  for (const until = performance.now() + lengthMs; performance.now() < until; typed++) {
    await page.keyboard.press("abcdefghij".charAt(typed % 10))
    await page.waitForTimeout(200)
  }
  // The browser tells only of those that took a frame or more.
  const slow = await page.evaluate<ReadonlyArray<number>>("globalThis.keys")
  return [...slow, ...Array.from({ length: Math.max(0, typed - slow.length) }, () => 16)]
}

/** Milliseconds from the answer with the chart to the frame that shows its state. */
export const litAfterChart = async (page: Page, open: () => Promise<unknown>) => {
  await page.addInitScript(`{
    const look = () => {
      if (document.querySelector(".state.lit") === null) return requestAnimationFrame(look)
      globalThis.litAt = performance.now()
    }
    requestAnimationFrame(look)
  }`)
  await open()
  await holdsIn(page, "globalThis.litAt !== undefined")
  return page.evaluate<number>(`(() => {
    const charts = performance.getEntriesByType("resource").filter(({ name }) => /\\/v1\\/actors\\/[^/]+\\/chart/.test(name))
    return globalThis.litAt - charts[0].responseEnd
  })()`)
}

/** Presses the left arrow so often; milliseconds of script, style and layout until the chart shows the step. */
export const stepsOfSlider = (page: Page, steps: number) =>
  page.evaluate<ReadonlyArray<number>>(`(async () => {
    const slider = document.querySelector("[aria-label='Position in the log']")
    const chart = slider.closest(".chart")
    const times = []
    slider.focus()
    for (let i = 0; i < ${steps}; i++) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      const before = chart.dataset.pos
      const start = performance.now()
      slider.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true, cancelable: true }))
      for (let turns = 0; chart.dataset.pos === before && turns < 1_000; turns++) await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = resolve
        port2.postMessage(0)
      })
      chart.getBoundingClientRect()
      times.push(performance.now() - start)
    }
    return times
  })()`)

/**
 * Sets the slider to a position; milliseconds until a frame shows the chart of it. Measured in the page: what drives
 * the browser looks again only after growing pauses.
 */
export const leapOfSlider = (page: Page, pos: number) =>
  page.evaluate<number>(`(async () => {
    const slider = document.querySelector("[aria-label='Position in the log']")
    const chart = slider.closest(".chart")
    const start = performance.now()
    // React hears of a value that was set by the element's own setter alone.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, "${pos}")
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    while (chart.dataset.pos !== "${pos}") await new Promise((resolve) => requestAnimationFrame(resolve))
    return performance.now() - start
  })()`)
