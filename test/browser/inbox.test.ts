/** The inbox in a real browser: what a key does, and what it must not do. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import { begin, call, makeWorker } from "../http/toolFixture.ts"
import { ended, logOf } from "../http/threadFixture.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole } from "../setup/console.ts"
import { type Open, openConsole } from "../setup/consolePage.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"

let server: TestServer
let alpha: Client
let browser: Browser
let built: Awaited<ReturnType<typeof buildConsole>>
/** Calls of thread.rename want a person's word. */
let asking: string
beforeAll(async () => {
  built = await buildConsole()
  server = await startServer({ served: { console: built.folder } })
  alpha = server.alpha
  browser = await launchBrowser()
  const role = await alpha.post("/v1/roles", {
    name: "asks",
    allow: [{ tools: "*" }, { tools: "thread.rename", approval: "required" }]
  })
  asking = await makeWorker(alpha, {
    roleIds: [role.body.role.id],
    families: ["thread"],
    familyExposure: "always"
  })
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await built?.remove()
})

const open = (use: (open: Open) => Promise<void>, more: { token?: string } = {}) =>
  openConsole(browser, { base: server.base, token: alpha.token, path: "", ...more }, use)

const isParked = (log: ReadonlyArray<{ readonly type: string }>) => log.some(({ type }) => type === "wait_created")

const waiting = async (title: string) => {
  const threadId = await begin(alpha, asking, call("thread.rename", { title }))
  await logOf(alpha, threadId, isParked)
  return threadId
}

const waitsOf = async (threadId: string): Promise<ReadonlyArray<unknown>> =>
  (await alpha.get(`/v1/threads/${threadId}`)).body.pendingWaits

describe("a key", () => {
  it("that nobody heard while the input was edited decides nothing afterwards", async () => {
    const threadId = await waiting("Unedited")
    await open(async ({ page }) => {
      const card = page.getByRole("article", { name: "thread.rename, before the call" })
      await card.waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("e")
      await page.getByLabel("Input, as JSON").waitFor()
      await card.getByRole("heading").click()
      await page.keyboard.press("a")
      await card.getByRole("button", { name: "Back" }).click()
      const allow = card.getByRole("button", { name: "Allow" })
      await allow.waitFor()
      // Whatever the key would have set off is sent before this answer comes.
      await page.evaluate("fetch('/healthz')")
      assert.strictEqual((await waitsOf(threadId)).length, 1)
      assert.isTrue(await allow.isEnabled())
      await allow.click()
      await logOf(alpha, threadId, ended(1))
    })
  })
})
