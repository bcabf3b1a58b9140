/** Bugs of the console, planted as its sources are read: what all its pages are held to sees each of them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import type { Plugin } from "vite"
import { begin, makeWorker } from "../http/toolFixture.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildChanged } from "../setup/console.ts"
import { openConsole, violationsOf } from "../setup/consolePage.ts"
import { startServer, type TestServer } from "../setup/server.ts"

/** Edits of a source. One that no longer applies fails the build: a plant that is nowhere proves nothing. */
const planted: ReadonlyArray<{ readonly file: string; readonly from: RegExp; readonly to: string }> = [
  { file: "/parts/Markdown.tsx", from: /,\n\s+\/\/ Loading it would tell[\s\S]*?\n {2}\)\n\}/, to: "\n}" },
  { file: "/threads/ThreadList.tsx", from: /<label htmlFor=\{[\w.]+\}>Identity<\/label>/, to: "<span>Identity</span>" }
]

const planting: Plugin = {
  name: "planting",
  enforce: "pre",
  transform: (code, id) => {
    const plant = planted.find(({ file }) => id.endsWith(file))
    if (plant === undefined) return undefined
    const changed = code.replace(plant.from, plant.to)
    if (changed === code) throw new Error(`the plant has lost its place in ${plant.file}`)
    return { code: changed, map: null }
  }
}

let server: TestServer
let browser: Browser
let built: Awaited<ReturnType<typeof buildChanged>>
let agentId: string
beforeAll(async () => {
  built = await buildChanged([planting])
  server = await startServer({ served: { console: built.folder } })
  browser = await launchBrowser()
  agentId = await makeWorker(server.alpha)
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await built?.remove()
})

describe("is seen, when it is planted:", () => {
  it("an image from elsewhere in a message", async () => {
    const threadId = await begin(server.alpha, agentId, "/say ![a cat](http://elsewhere.invalid/cat.png)")
    const where = { base: server.base, token: server.alpha.token, path: `/threads/${threadId}` }
    let complained: ReadonlyArray<string> = []
    const failed = await openConsole(browser, where, async ({ page, seen }) => {
      await page.locator("img[alt='a cat']").waitFor({ state: "attached" })
      complained = seen.complaints
    }).then(
      () => undefined,
      (error: Error) => error.message
    )
    assert.isDefined(failed)
    assert.match(complained.join("\n"), /elsewhere\.invalid/)
  })

  it("a field without a label", async () => {
    await openConsole(browser, { base: server.base, token: server.alpha.token, path: "/threads" }, async ({ page }) => {
      await page.getByText("Identity", { exact: true }).waitFor()
      assert.match((await violationsOf(page)).join("\n"), /^label: <input/m)
    })
  })
})
