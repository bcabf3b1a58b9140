/** A thread as a file: downloaded by one browser, opened by another that asks nobody for anything. */
import { copyFile, readFile, writeFile } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { during, folderDuring } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { sharedConsole } from "../setup/console.ts"
import { isFitForAll, openConsole, overhang } from "../setup/consolePage.ts"
import { watch } from "../setup/watchPage.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"

/** Paths of the two files. */
let whole: string
let bare: string

const canary = "canary-of-the-file"

const download = async (page: Page, name: string) => {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click()
  ])
  return { path: await file.path(), name: file.suggestedFilename() }
}

const server = await sharedConsole()
const browser = await during(launchBrowser())
const folder = await folderDuring("file")
const agentId = await makeAgent(server.alpha)
const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
await server.alpha.patch(`/v1/profiles/${profileId}`, { families: ["thread"], familyExposure: "always" })
const threadId = await makeThread(server.alpha, agentId, { title: `A title, ${canary}`, metadata: { note: canary } })
await submit(server.alpha, threadId, `/call thread.rename {"title":"Named ${canary}"}\n/then\n/say said ${canary}`)
await logOf(server.alpha, threadId, ended(1))
await submit(server.alpha, threadId, `/error model_error ${canary}`)
const log = await logOf(server.alpha, threadId, ended(2))
await openConsole(
  browser,
  { base: server.base, token: server.alpha.token, path: `/threads/${threadId}`, options: { acceptDownloads: true } },
  async ({ page }) => {
    const [first, second] = [await download(page, "Download"), await download(page, "Download without content")]
    assert.strictEqual(first.name, `${threadId}.troupe.jsonl`)
    assert.strictEqual(second.name, `${threadId}.without-content.troupe.jsonl`)
    // Kept where they outlast the browser's context.
    whole = `${folder}/whole.troupe.jsonl`
    bare = `${folder}/bare.troupe.jsonl`
    await copyFile(first.path, whole)
    await copyFile(second.path, bare)
  }
)

const linesOf = async (path: string) =>
  (await readFile(path, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("the file of a thread", () => {
  it("has the thread, the chart, and events and steps in the order of the log", async () => {
    const [head, ...lines] = await linesOf(whole)
    assert.deepInclude(head, { type: "troupe.thread", version: 1 })
    assert.strictEqual(head.thread.id, threadId)
    assert.deepStrictEqual(head.chart, (await server.alpha.get("/v1/charts/thread")).body.chart)
    assert.deepStrictEqual<ReadonlyArray<unknown>>(
      lines.filter(({ type }) => type === "event").map(({ event }) => event),
      log
    )
    const { steps } = (await server.alpha.get(`/v1/actors/${threadId}/steps`)).body
    assert.deepStrictEqual(
      lines.filter(({ type }) => type === "step").map(({ step }) => step),
      steps
    )
    let seq = 0
    for (const { event, step, type } of lines)
      if (type === "event") seq = event.seq
      else if (step.toSeq !== undefined) assert.strictEqual(step.toSeq, seq)
  })

  it("without content has ids, types, times, sizes, codes and usage, and nobody's words", async () => {
    const text = await readFile(bare, "utf8")
    assert.notInclude(text, canary)
    const [head, ...lines] = await linesOf(bare)
    assert.strictEqual(head.withoutContent, true)
    assert.strictEqual(head.thread.sizes.title, new TextEncoder().encode(`Named ${canary}`).length)
    const events = lines.filter(({ type }) => type === "event").map(({ event }) => event)
    for (const name of ["eventId", "seq", "turnId", "type", "occurredAt", "usage", "failureCode", "toolCallId"])
      assert.deepStrictEqual(
        events.map((event) => event[name]),
        log.map((event) => event[name]),
        name
      )
    assert.isAbove(events[0].sizes.content, canary.length)
    assert.lengthOf(lines, (await linesOf(whole)).length - 1)
  })
})

/** A page that has no key and opens one file after the other. */
let shown: { readonly page: Page; readonly seen: ReturnType<typeof watch> } | undefined
const opening = async () => {
  const page = await browser.newPage()
  page.setDefaultTimeout(30_000)
  const seen = watch(page, server.base)
  await page.goto(`${server.base}/console/open`)
  await page.getByRole("heading", { name: "Open a downloaded thread" }).waitFor()
  await page.waitForLoadState("networkidle")
  return { page, seen }
}

const opened = async (path: string, use: (page: Page, seen: ReturnType<typeof watch>) => Promise<void>) => {
  shown ??= await opening()
  const { page, seen } = shown
  // Who fails leaves no page to others.
  shown = undefined
  seen.asked.splice(0)
  seen.complaints.splice(0)
  await page.getByLabel("File").setInputFiles(path)
  await use(page, seen)
  assert.deepStrictEqual(seen.complaints, [])
  shown = { page, seen }
}

describe("an opened file", () => {
  it("shows conversation, events, timeline and chart without a single request, and without a key", async () => {
    await opened(whole, async (page, seen) => {
      await page.getByRole("button", { name: "Conversation" }).click()
      await page.getByText(`said ${canary}`, { exact: true }).waitFor()
      await page.getByText("turn completed").waitFor()
      await page.getByRole("button", { name: "Timeline" }).click()
      await page.getByRole("option", { name: /^Tools: thread\.rename/ }).click()
      const intent = log.find(({ type }) => type === "tool_intent")
      await page.getByRole("region", { name: `Event ${intent?.seq}` }).waitFor()
      await page.getByRole("button", { name: "Chart" }).click()
      const slider = page.getByRole("slider", { name: "Position in the log" })
      await page.getByRole("img", { name: "in failed", exact: false }).waitFor()
      await slider.press("Home")
      await page.getByRole("img", { name: "in idle", exact: false }).waitFor()
      await slider.press("ArrowRight")
      await page.getByRole("img", { name: "in running.sampling", exact: false }).waitFor()
      await page.getByRole("button", { name: "1 user_message" }).click()
      await page.getByRole("region", { name: "Event 1" }).waitFor()
      assert.deepStrictEqual(seen.asked, [])
      assert.isNull(await page.evaluate('sessionStorage.getItem("troupe.key")'))
    })
  })

  it("without content shows what it left out by its size", async () => {
    await opened(bare, async (page) => {
      await page.getByText("bytes, left out of the file)").first().waitFor()
      await page.getByText("turn completed").waitFor()
    })
  })

  it("that is none says which line is wrong", async () => {
    const rows = await linesOf(whole)
    const broken = `${folder}/broken.troupe.jsonl`
    rows[2] = { type: "event", event: { ...rows[2].event, content: { hostile: true }, occurredAt: "never" } }
    await writeFile(broken, rows.map((row) => JSON.stringify(row)).join("\n"))
    await opened(broken, async (page) => {
      await page.getByRole("alert").getByText("Line 3:").waitFor()
      assert.strictEqual(await overhang(page), 0)
    })
  })

  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 240_000
  }, async () => {
    await opened(whole, async (page) => {
      await page.getByText("turn completed").waitFor()
      await isFitForAll(page, "file")
    })
  })
})
