/** Pages of the console in a real browser: signed in, watched, and held against what everybody needs of a page. */
import { AxeBuilder } from "@axe-core/playwright"
import { assert } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import type { Browser, Locator, Page } from "playwright-core"
import { watch } from "./watchPage.ts"

const themes = ["light", "dark"] as const
const widths = [390, 768, 1440]

/** For people who want to see it: CONSOLE_SCREENSHOT=/tmp/console writes /tmp/console-<name>.png. */
export const shoot = async (page: Page, name: string) => {
  const prefix = process.env.CONSOLE_SCREENSHOT
  if (prefix !== undefined) await page.screenshot({ path: `${prefix}-${name}.png` })
}

export type Open = { readonly page: Page; readonly seen: ReturnType<typeof watch> }

/** A page of a browser of its own, signed in by the address; it must load nothing from elsewhere and complain of nothing. */
export const openConsole = async (
  browser: Browser,
  where: {
    readonly base: string
    readonly token: string | undefined
    readonly path: string
    readonly options?: object
  },
  use: (open: Open) => Promise<void>
) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...where.options })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const seen = watch(page, where.base)
  try {
    await page.goto(`${where.base}/console${where.path}#key=${where.token}`)
    await page.getByRole("navigation", { name: "Pages" }).waitFor()
    await use({ page, seen })
    assert.deepStrictEqual(seen.complaints, [])
    assert.deepStrictEqual(seen.elsewhere(), [])
  } finally {
    await context.close()
  }
}

/** The text of a box of YAML: an editor's, which has no value that a browser knows of. */
export const yamlOf = async (box: Locator) => {
  await box.waitFor()
  return (await box.locator(".cm-line").allTextContents()).join("\n")
}

/** Pastes it in the place of all that is there, as people do; text of several lines is typed by nobody at once. */
export const pasteYaml = async (box: Locator, text: string) => {
  await box.press("Control+a")
  await box.page().evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData("text/plain", ${JSON.stringify(text)})
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }))
  }`)
}

/** Waits until an expression is true in the page: by the browser's debugger, since the page itself lets no text be run. */
export const holdsIn = async (page: Page, expression: string) => {
  for (const deadline = Date.now() + 60_000; !(await page.evaluate<boolean>(expression)); await sleep(50))
    if (Date.now() > deadline) assert.fail(`never true in the page: ${expression}`)
}

/** Pixels that the page is wider than its window. */
export const overhang = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth")

/**
 * Of looks for violations every twenty-fourth is made, from a place that differs from run to run and is printed; 1 makes all of
 * them, which takes minutes.
 */
const stride = Number(process.env.TROUPE_AXE_STRIDE ?? 24)
const from = Number(process.env.TROUPE_AXE_FROM ?? Math.floor(Math.random() * stride))
let looks = from

/** What breaks WCAG 2.2 AA on a page: the rule, and the elements. */
export const violationsOf = async (page: Page) => {
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze()
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)
}

/** In both themes: nothing wider than the window at every width, and WCAG 2.2 AA at those that are drawn. */
export const isFitForAll = async (page: Page, name: string) => {
  if (looks === from) console.log(`looks for violations: TROUPE_AXE_STRIDE=${stride} TROUPE_AXE_FROM=${from}`)
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    for (const width of widths) {
      const what = `${name}-${colorScheme}-${width}`
      await page.setViewportSize({ width, height: 900 })
      assert.strictEqual(await overhang(page), 0, what)
      await shoot(page, what)
      if (looks++ % stride === 0) assert.deepStrictEqual(await violationsOf(page), [], what)
    }
  }
}
