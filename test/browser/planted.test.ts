/** Bugs of the console, planted as its sources are read: what all its pages are held to sees each of them. */
import { assert, describe, it } from "@effect/vitest"
import type { Plugin } from "vite"
import { begin, makeWorker } from "../http/toolFixture.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildChanged } from "../setup/console.ts"
import { go, openConsole, violationsOf } from "../setup/consolePage.ts"
import { startServer } from "../setup/server.ts"

/** Edits of a source. One that no longer applies fails the build: a plant that is nowhere proves nothing. */
const planted: ReadonlyArray<{ readonly file: string; readonly from: RegExp; readonly to: string }> = [
  { file: "/parts/Markdown.tsx", from: /,\n\s+\/\/ Loading it would tell[\s\S]*?\n {2}\)\n\}/, to: "\n}" },
  { file: "/threads/ThreadList.tsx", from: /<label htmlFor=\{[\w.]+\}>Identity<\/label>/, to: "<span>Identity</span>" },
  {
    file: "/threads/Transcript.tsx",
    from: /(?<=\n)(?= {2}const \{ content, occurredAt, principal, submitMode \})/,
    to: 'if (contentText(row.event.content) === "broken") throw new Error("a planted failure")\n'
  },
  {
    file: "/inbox/OperationCard.tsx",
    from: /(?<= {2}const by = operation\.requestedBy\n)/,
    to: 'if (operation.action === "agent.update") throw new Error("a planted failure")\n'
  }
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

const built = await during(buildChanged([planting]), ({ remove }) => remove())
const server = await during(startServer({ served: { console: built.folder } }))
const browser = await during(launchBrowser())
const agentId = await makeWorker(server.alpha)

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

  it("what throws while it is drawn: in its own place, with what it was to show, and nothing beside it", async () => {
    const threadId = await begin(server.alpha, agentId, "broken")
    await server.alpha.put("/v1/approval-policy", {
      rules: [{ actions: ["agent.update"], principals: ["api_key"], require: true }]
    })
    await server.alpha.patch(`/v1/agents/${agentId}`, { name: "Never" })
    const where = { base: server.base, token: server.alpha.token, path: `/threads/${threadId}` }
    await openConsole(browser, where, async ({ page, seen }) => {
      const words = "The console cannot show event 1: a planted failure"
      await page.getByText(words).waitFor()
      await page.getByRole("button", { name: "Show all" }).click()
      await page.getByRole("region", { name: "What came of event 1" }).getByText('"text": "broken"').waitFor()
      await page.getByRole("article", { name: "Answer" }).waitFor()
      await go(page, "/")
      await page.getByText(/^The console cannot show op_\w+: a planted failure$/).waitFor()
      await page.getByText('"action": "agent.update"').waitFor()
      assert.isAbove(seen.complaints.length, 0)
      seen.complaints.splice(0)
    })
  })

  it("a field without a label", async () => {
    await openConsole(browser, { base: server.base, token: server.alpha.token, path: "/threads" }, async ({ page }) => {
      await page.getByText("Identity", { exact: true }).waitFor()
      assert.match((await violationsOf(page)).join("\n"), /^label: <input/m)
    })
  })
})
