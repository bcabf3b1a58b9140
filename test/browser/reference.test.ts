/** The reference page in a real browser: it shows every operation, and no request leaves the machine. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { chromium } from "playwright-core"
import { during } from "../http/client.ts"
import { serve, World } from "../http/tiny.ts"

const browsers = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/lib/chromium/chromium"]
const executablePath = browsers.find((path) => path !== undefined && existsSync(path))
if (executablePath === undefined) console.warn("no Chromium on this machine: the reference page is not opened (set CHROMIUM to its path)")

describe.skipIf(executablePath === undefined)("/docs in a browser", () => {
  const base = during(() => serve(new World()))

  it("shows the operations, and asks nobody but this server", async () => {
    const browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox", "--disable-background-networking"] })
    try {
      const page = await browser.newPage()
      const asked: Array<string> = []
      const blocked: Array<string> = []
      const broken: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      page.on("console", (message) => { if (/Content Security Policy/.test(message.text())) blocked.push(message.text()) })
      page.on("pageerror", (error) => broken.push(error.message))
      await page.goto(`${base()}/docs`)
      await page.getByText("/v1/threads/{threadId}/notes").first().waitFor()
      await page.waitForLoadState("networkidle")
      // Scrolling opens what is rendered late.
      for (let i = 0; i < 5; i++) await page.mouse.wheel(0, 2_000)
      await page.waitForLoadState("networkidle")
      const elsewhere = asked.filter((url) => !url.startsWith(base()) && !/^(data|blob):/.test(url))
      assert.deepStrictEqual({ elsewhere, blocked, broken }, { elsewhere: [], blocked: [], broken: [] })
      assert.strictEqual(await page.getByText("Generate SDKs").count(), 0)
    } finally {
      await browser.close()
    }
  })
})
