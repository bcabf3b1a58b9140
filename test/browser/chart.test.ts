/** Actors on their charts, in a real browser: the picture, the slider, and a turn as it goes on. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser, Page } from "playwright-core"
import { definitionOf } from "../../machines/definition.ts"
import { charts } from "../../machines/charts.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole } from "../setup/console.ts"
import { isFitForAll, type Open, openConsole, shoot, themes } from "../setup/consolePage.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { ended, logOf, makeThread, submit } from "../http/threadFixture.ts"
import { addToolset, call, makeWorker, resolveWait, waitsOf } from "../http/toolFixture.ts"

let server: TestServer
let browser: Browser
let built: Awaited<ReturnType<typeof buildConsole>>
let agentId: string
let tool: string
beforeAll(async () => {
  built = await buildConsole()
  server = await startServer({ served: { console: built.folder } })
  browser = await launchBrowser()
  const { id, namespace } = await addToolset(server.alpha, {
    kind: "client",
    tools: [{ name: "ask", inputSchema: { type: "object" } }]
  })
  tool = `${namespace}.ask`
  agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await built?.remove()
})

const open = (path: string, use: (open: Open) => Promise<void>, options: object = {}) =>
  openConsole(browser, { base: server.base, token: server.alpha.token, path, options }, use)

const isIn = (page: Page, state: string) => page.getByRole("img", { name: `in ${state}`, exact: false }).waitFor()
const slider = (page: Page) => page.getByRole("slider", { name: "Position in the log" })

const judged = async () => {
  const threadId = await makeThread(server.alpha, agentId)
  await submit(server.alpha, threadId, `${call(tool, {})}\n/then\n/say done`)
  const [wait] = await waitsOf(server.alpha, threadId)
  return { threadId, waitId: wait?.id ?? "" }
}

describe("the chart of a thread", () => {
  it("is a picture of all its states and transitions, each once", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "idle")
      const attributes = (name: string) =>
        page.evaluate<Array<string>>(
          `[...document.querySelectorAll(".drawing [${name}]")].map((each) => each.getAttribute("${name}"))`
        )
      const { states, transitions } = definitionOf(charts.thread)
      assert.sameMembers(await attributes("data-state"), ["any state", ...states.map(({ id }) => id)])
      assert.sameMembers(
        (await attributes("data-transitions")).flatMap((ids) => ids.split(" ")).filter((id) => id !== ""),
        transitions.map(({ id }) => id)
      )
    })
  })

  it("follows a live turn through a call, a wait and an interrupt", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "idle")
      await submit(server.alpha, threadId, `${call(tool, {})}\n/then\n/wait 600s\ndone`)
      await isIn(page, "awaiting.acting")
      await page.getByRole("region", { name: "What goes on" }).getByText("wait since").waitFor()
      const [wait] = await waitsOf(server.alpha, threadId)
      await resolveWait(server.alpha, threadId, wait?.id ?? "", { type: "tool_result", output: 1 })
      await isIn(page, "running.sampling")
      await submit(server.alpha, threadId, "stop that", { mode: "interrupt" })
      await isIn(page, "idle")
      await shoot(page, "chart")
    })
  })

  it("is shown at every step of a past turn as the interface says, by the keys of its slider", async () => {
    const { threadId, waitId } = await judged()
    await resolveWait(server.alpha, threadId, waitId, { type: "tool_result", output: 1 })
    await logOf(server.alpha, threadId, ended(1))
    const { steps } = (await server.alpha.get(`/v1/actors/${threadId}/steps`)).body
    assert.isAbove(steps.length, 3)
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "idle")
      await slider(page).press("Home")
      for (const { cause, pos, to } of steps) {
        await slider(page).press("ArrowRight")
        await page.locator(".state-name", { hasText: new RegExp(`^${to}$`) }).waitFor()
        await page.getByRole("region", { name: "How it got there" }).getByText(cause, { exact: true }).waitFor()
        assert.strictEqual(new URL(page.url()).searchParams.get("pos"), String(pos))
        const lit = await page.locator(".state.lit:not(.parts)").getAttribute("data-state")
        assert.strictEqual(lit, to)
      }
      await slider(page).press("End")
      await page.getByText("live", { exact: false }).first().waitFor()
      assert.isNull(new URL(page.url()).searchParams.get("pos"))
    })
  })

  it("plays what happened from its birth on, and ends live", async () => {
    const { threadId, waitId } = await judged()
    await resolveWait(server.alpha, threadId, waitId, { type: "tool_result", output: 1 })
    await logOf(server.alpha, threadId, ended(1))
    await open(`/threads/${threadId}/chart?pos=0`, async ({ page }) => {
      await isIn(page, "idle")
      await page.getByRole("button", { name: "Play ×100" }).click()
      await page.getByRole("button", { name: "Live" }).and(page.locator("[aria-pressed=true]")).waitFor()
    })
  })
})

describe("the chart of any actor", () => {
  it("is an identity's, too", async () => {
    const { body } = await server.alpha.post("/v1/identities/disable", { identity: "seen@example.com" })
    const { actorId } = body.operation.result.body.identity
    await open(`/actors/${actorId}`, async ({ page }) => {
      await isIn(page, "disabled")
      await page.getByText("enabled → disabled").waitFor()
    })
  })

  it("says in words that there is no such actor", async () => {
    await open("/actors/thr_01m7y1svs7e0087pe32vr71000", async ({ page, seen }) => {
      await page.getByRole("alert").getByText("no such actor").waitFor()
      seen.complaints.length = 0
    })
  })

  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 120_000
  }, async () => {
    const { threadId } = await judged()
    for (const colorScheme of themes)
      await open(
        `/threads/${threadId}/chart`,
        async ({ page }) => {
          await isIn(page, "awaiting.acting")
          await isFitForAll(page, `chart-${colorScheme}`)
        },
        { colorScheme }
      )
  })
})
