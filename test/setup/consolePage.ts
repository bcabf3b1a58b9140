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

interface Where {
  readonly base: string
  readonly token: string | undefined
}

const windowSize = { width: 1280, height: 900 }

/** A page of a browser's context of its own, signed in by the address, out of which the key is taken at once. */
const signedIn = async (
  browser: Browser,
  { base, options, path, token }: Where & { readonly path: string; readonly options?: object | undefined }
): Promise<Open> => {
  const context = await browser.newContext({ viewport: windowSize, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const seen = watch(page, base)
  await page.goto(`${base}/console${path}#key=${token}`)
  await page.getByRole("navigation", { name: "Pages" }).waitFor()
  assert.notInclude(page.url(), "#")
  return { page, seen }
}

const isQuiet = ({ seen }: Open) => {
  assert.deepStrictEqual(seen.complaints, [])
  assert.deepStrictEqual(seen.elsewhere(), [])
}

/** A page of a browser of its own, signed in by the address; it must load nothing from elsewhere and complain of nothing. */
export const openConsole = async (
  browser: Browser,
  where: Where & { readonly path: string; readonly options?: object },
  use: (open: Open) => Promise<void>
) => {
  const opened = await signedIn(browser, where)
  try {
    await use(opened)
    isQuiet(opened)
  } finally {
    await opened.page.context().close()
  }
}

/** To another address of the console, without loading the page anew: as its links lead there. */
export const go = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/console${path}`)})`)

/** The same, until another page has taken the place of the one before. */
export const turnTo = async (page: Page, path: string) => {
  await page.evaluate(`document.querySelector("main").firstElementChild?.setAttribute("data-left", "")`)
  await go(page, path)
  await page.locator("main [data-left]").waitFor({ state: "detached" })
}

/**
 * Visits to a console, one after another and in one page, since a page that is loaded takes seconds: each begins with a
 * sign-in, after a sign-out has left nothing of the one before. A visit that fails has had the page for itself.
 */
export const visiting = (of: () => Where & { readonly browser: Browser }) => {
  let kept: Open | undefined
  const again = async ({ page, seen }: Open, path: string, token: string | undefined): Promise<Open> => {
    await page.getByRole("button", { name: "Sign out" }).click()
    const key = page.getByLabel("API key")
    await key.fill(token ?? "")
    page.setDefaultTimeout(30_000)
    seen.asked.splice(0)
    seen.complaints.splice(0)
    await go(page, path)
    await key.press("Enter")
    await page.getByRole("navigation", { name: "Pages" }).waitFor()
    return { page, seen }
  }
  return async (
    path: string,
    use: (open: Open) => Promise<void>,
    { token = of().token }: { readonly token?: string } = {}
  ) => {
    const { base, browser } = of()
    const opened = kept === undefined ? await signedIn(browser, { base, token, path }) : await again(kept, path, token)
    kept = undefined
    try {
      await use(opened)
      isQuiet(opened)
      await opened.page.unrouteAll({ behavior: "ignoreErrors" })
      kept = opened
    } finally {
      if (kept === undefined) await opened.page.context().close()
    }
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
export const holdsIn = async (page: Page, expression: string, what = expression) => {
  for (const deadline = Date.now() + 60_000; !(await page.evaluate<boolean>(expression)); await sleep(50))
    if (Date.now() > deadline) assert.fail(`never true in the page: ${what}`)
}

const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

/** Pixels that the page is wider than its window. */
export const overhang = (page: Page) => page.evaluate<number>(wider)

/**
 * Of looks for violations every twenty-fourth is made, from a place that differs from run to run and is printed; 1 makes all of
 * them, which takes minutes.
 */
const stride = Number(process.env.TROUPE_AXE_STRIDE ?? 24)
const from = Number(process.env.TROUPE_AXE_FROM ?? Math.floor(Math.random() * stride))
let looks = from

/** What breaks WCAG 2.2 AA on a page: the rule, and the elements. */
export const violationsOf = async (page: Page) => {
  // Its other mode opens a page to put frames together, of which ours have none.
  const axe = new AxeBuilder({ page }).setLegacyMode(true)
  const found = await axe.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze()
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)
}

/** In both themes: nothing wider than the window at every width, and WCAG 2.2 AA at those that are drawn. */
export const isFitForAll = async (page: Page, name: string) => {
  if (looks === from) console.log(`looks for violations: TROUPE_AXE_STRIDE=${stride} TROUPE_AXE_FROM=${from}`)
  try {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme })
        const what = `${name}-${colorScheme}-${width}`
        // What opens over a page takes its place in it a frame after the window has another size.
        await holdsIn(page, `${wider} === 0`, `nothing of ${what} is wider than the window`)
        await shoot(page, what)
        if (looks++ % stride === 0) assert.deepStrictEqual(await violationsOf(page), [], what)
      }
    }
  } finally {
    await page.emulateMedia({ colorScheme: null })
    await page.setViewportSize(windowSize)
  }
}
