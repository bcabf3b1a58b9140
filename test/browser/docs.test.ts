/** The reference at /docs as a person sees it: every group of the interface, and nothing from elsewhere. */
import { assert, expect, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { watch } from "../setup/watchPage.ts"
import { sharedServer } from "../setup/server.ts"

const server = await sharedServer()
const browser = await during(launchBrowser())

/** For people who want to see it: DOCS_SCREENSHOT=/tmp/docs writes /tmp/docs-<name>.png. */
const shoot = async (page: Page, name: string) => {
  const prefix = process.env.DOCS_SCREENSHOT
  if (prefix !== undefined) await page.screenshot({ path: `${prefix}-${name}.png` })
}

// A page of its own for each: what one closes must not be what the next one looks at. Once more if the
// bundled page, which is not ours, has not got ready in time.
it("tries requests against this server, with the key that is put in and nothing that was not asked for", {
  retry: 2
}, async () => {
  const tryOut = async (method: string, path: string, group: string) => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } })
    page.setDefaultTimeout(60_000)
    const seen = watch(page, server.base)
    try {
      await page.goto(`${server.base}/docs#tag/${group}/${method}${path}`)
      await page
        .getByPlaceholder("Token")
        .filter({ visible: true })
        .first()
        .fill(server.alpha.token ?? "")
      await page
        .getByRole("button", { name: new RegExp(`^Test Request.*${method.toLowerCase()} ${path}\\)?$`, "i") })
        .click()
      const [answer] = await Promise.all([
        page.waitForResponse(
          (response) => response.url().startsWith(server.base + path) && response.request().method() === method
        ),
        page.getByRole("button", { name: /^Send/ }).first().click()
      ])
      await shoot(page, `try-${group}`)
      assert.deepStrictEqual(seen.elsewhere(), [])
      assert.deepStrictEqual(seen.complaints, [])
      return { status: answer.status(), url: answer.url(), headers: await answer.request().allHeaders() }
    } finally {
      await page.close()
    }
  }
  const created = await tryOut("POST", "/v1/profiles", "profiles")
  assert.deepStrictEqual([created.status, created.headers["idempotency-key"]], [201, undefined])
  const listed = await tryOut("GET", "/v1/threads", "threads")
  assert.deepStrictEqual([listed.status, listed.url], [200, `${server.base}/v1/threads`])
})

/**
 * Those of so many texts that the page does not show. It looks for all of them at once, and by itself: it has so many
 * elements that a search for each would take a minute. What its scripts hold is not shown.
 */
const missingOf = (texts: ReadonlyArray<string>) => `(() => {
  const shown = [...document.body.children].filter(({ localName }) => localName !== "script")
    .map(({ textContent }) => textContent).join(" ")
  return ${JSON.stringify(texts)}.filter((text) => !shown.includes(text))
})()`

/** Each run looks at every eighth group, from a place that is printed: the page takes seconds to draw one. */
const stride = Number(process.env.TROUPE_DOCS_STRIDE ?? 8)
const from = Number(process.env.TROUPE_DOCS_FROM ?? Math.floor(Math.random() * stride))

type Methods = Record<string, { readonly tags: ReadonlyArray<string>; readonly summary: string }>

it(`shows groups and their operations, and no request leaves the machine (TROUPE_DOCS_STRIDE=${stride} TROUPE_DOCS_FROM=${from})`, async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } })
  const seen = watch(page, server.base)
  const { body } = await server.anonymous.get("/v1/openapi.json")
  await page.goto(`${server.base}/docs`)
  await page.getByRole("heading", { name: "Troupe", exact: true }).first().waitFor()
  await shoot(page, "top")
  // Samples that the page makes up itself cannot work: of clients there is ours only, wherever one can be chosen.
  await page.goto(`${server.base}/docs#tag/threads/POST/v1/threads`)
  await page.getByText("Create a thread", { exact: true }).first().waitFor()
  await page.getByRole("button", { name: "curl", exact: true }).first().click()
  await page.getByRole("option").first().waitFor()
  assert.deepStrictEqual(await page.getByRole("option").allInnerTexts(), ["curl"])
  assert.strictEqual(
    await page.getByRole("button", { name: /^(?:Ruby|Node\.js|PHP|Python|More Select from all clients)$/ }).count(),
    0
  )
  await page.keyboard.press("Escape")
  for (let i = from; i < body.tags.length; i += stride) {
    const { description, name } = body.tags[i]
    // As the page itself writes its links.
    await page.goto(`${server.base}/docs#tag/${name.toLowerCase()}`)
    await page.getByText(description).first().waitFor()
    const summaries = Object.values<Methods>(body.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ tags }) => tags[0] === name)
      .map(({ summary }) => summary)
    const missing = () => page.evaluate<ReadonlyArray<string>>(missingOf(summaries))
    await expect.poll(missing, { timeout: 60_000 }).toEqual([])
    await shoot(page, name)
  }
  await page.waitForLoadState("networkidle")
  assert.deepStrictEqual(seen.elsewhere(), [])
  assert.deepStrictEqual(seen.complaints, [])
  assert.isAbove(seen.asked.length, 0)
  await page.close()
}, 480_000)
