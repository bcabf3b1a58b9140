/** A thread's page in a real browser: its views, what is sent from it, and that what is read stays where it is. */
import { assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { sharedConsole } from "../setup/console.ts"
import { go, holdsIn, isFitForAll, visiting } from "../setup/consolePage.ts"
import { type Event, ended, logOf, makeThread, submit } from "../http/threadFixture.ts"
import { addToolset, call, makeWorker, only, resolveWait, waitsOf } from "../http/toolFixture.ts"

const callsOfATurn = 60

const waits = (log: ReadonlyArray<Event>) => only(log, "wait_created").length > 0

const makeLong = async () => {
  const threadId = await makeThread(alpha, agentId)
  const calls = Array.from({ length: callsOfATurn }, (_, i) => call("thread.rename", { title: `Title ${i}` })).join(
    "\n"
  )
  for (let turns = 1; turns <= 2; turns++) {
    await submit(alpha, threadId, `${calls}\n/then\n/say ${"long words ".repeat(40)}`)
    await logOf(alpha, threadId, ended(turns))
  }
  await submit(alpha, threadId, `${call(tool)}\n/then\n/say done`)
  const [wait] = await waitsOf(alpha, threadId)
  const log = await logOf(alpha, threadId, waits)
  return { threadId, turnId: log.at(-1)?.turnId ?? "", waitId: wait?.id ?? "", lastSeq: log.at(-1)?.seq ?? 0 }
}

const server = await sharedConsole()
const alpha = server.alpha
const browser = await during(launchBrowser())
const { id, namespace } = await addToolset(alpha, {
  kind: "client",
  tools: [{ name: "ask", inputSchema: { type: "object" } }]
})
/** A client's tool: a turn that calls it waits. */
const tool = `${namespace}.ask`
const agentId = await makeWorker(alpha, { toolsetIds: [id], families: ["thread"], familyExposure: "always" })
/** A thread of more events than are asked for at once, whose last turn waits. */
const long = await makeLong()
assert.isAbove(long.lastSeq, 240)

const open = visiting(() => ({ browser, base: server.base, token: alpha.token }))

const message = (page: Page) => page.getByRole("textbox", { name: "Message" })
const isSeen = async (page: Page, seq: number) => {
  await page.locator(".row.named").getByText(`#${seq} `).first().waitFor()
  await holdsIn(
    page,
    `(() => {
      const place = document.querySelector(".scroller").getBoundingClientRect()
      const row = document.querySelector(".row.named")?.getBoundingClientRect()
      return row !== undefined && row.bottom > place.top && row.top < place.bottom
    })()`
  )
}

/** Marks the row that is seen so many rows below the top of the place that scrolls; how far below it is, in pixels. */
const mark = (page: Page, index: number) =>
  page.evaluate<number>(
    `(() => {
      const place = document.querySelector(".scroller").getBoundingClientRect()
      const tops = [...document.querySelectorAll(".scroller .row")].map((row) => [row, row.getBoundingClientRect()])
        .filter(([, { bottom }]) => bottom > place.top).sort(([, one], [, other]) => one.top - other.top)
      const [row, { top }] = tops[${index}]
      row.setAttribute("data-read", "")
      return top - place.top
    })()`
  )

describe("a message to a running turn", () => {
  it("steers it: the words join the turn that waits, which the request names", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, `${call(tool)}\n/then\n/say done`)
    const [wait] = await waitsOf(alpha, threadId)
    const [first] = await logOf(alpha, threadId, waits)
    await open(`/threads/${threadId}`, async ({ page }) => {
      await message(page).fill("and in French")
      await page.getByLabel("steer").check()
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await page.getByRole("region", { name: "Queue" }).getByText("and in French").waitFor()
      await resolveWait(alpha, threadId, wait?.id ?? "", { type: "tool_result", output: 1 })
      await page.getByText("turn completed").waitFor()
      await page.getByRole("article", { name: "Message" }).getByText("and in French").waitFor()
    })
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(
      only(log, "user_message").map(({ submitMode, turnId }) => [submitMode, turnId]),
      [
        ["queue", first?.turnId],
        ["steer", first?.turnId]
      ]
    )
  })

  it("interrupts it, and its own turn goes on; one that is queued is removed again", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 600s\nbusy")
    await open(`/threads/${threadId}`, async ({ page }) => {
      await page.getByText("● running").waitFor()
      await message(page).fill("not this")
      await page.getByRole("button", { name: "Send", exact: true }).click()
      const queue = page.getByRole("region", { name: "Queue" })
      await queue.getByText("not this").waitFor()
      await queue.getByRole("button", { name: "Remove" }).click()
      await queue.waitFor({ state: "detached" })
      await message(page).fill("now this")
      await page.getByLabel("interrupt").check()
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await page.getByText("You said: now this").waitFor()
      await page.getByText("turn cancelled").waitFor()
    })
    const log = await logOf(alpha, threadId, ended(2))
    assert.notInclude(JSON.stringify(log), "not this")
  })

  it("names the turn that runs, however early the stretch that the page shows", async () => {
    await open(`/threads/${long.threadId}?seq=1`, async ({ page }) => {
      await page.getByText("Turn").first().waitFor()
      await message(page).fill("hear this")
      await page.getByLabel("steer").check()
      // Refused, if it named another turn than the one that runs.
      assert.isTrue(await page.getByLabel("only this turn").isChecked())
      await page.getByRole("button", { name: "Send", exact: true }).click()
      const queue = page.getByRole("region", { name: "Queue" })
      await queue.getByRole("button", { name: "Remove" }).click()
      await queue.waitFor({ state: "detached" })
    })
  })
})

describe("an event that the address names", () => {
  it("is in view, whatever its place in the log, and so is the next one that is named on the same page", async () => {
    await open(`/threads/${long.threadId}?view=events&seq=238`, async ({ page }) => {
      await isSeen(page, 238)
      await go(page, `/threads/${long.threadId}?view=events&seq=7`)
      await isSeen(page, 7)
      await page.getByRole("button", { name: "To the end of the log" }).click()
      await page.getByText(`#${long.lastSeq} `, { exact: false }).first().waitFor()
    })
  })
})

describe("what is read", () => {
  it.each([
    ["events", "?view=events"],
    ["conversation", ""]
  ])("stays in its place when what is earlier is loaded, in the %s", async (_, view) => {
    await open(`/threads/${long.threadId}${view}`, async ({ page }) => {
      // Of a long log its end is shown.
      await holdsIn(
        page,
        `(() => {
          const place = document.querySelector(".scroller")
          return place !== null && place.scrollTop > 1000 && place.scrollTop + place.clientHeight > place.scrollHeight - 50
        })()`
      )
      // Held back until it is known where the reader is.
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const asks = page.waitForRequest("**/events?afterSeq=*")
      await page.route("**/events?afterSeq=*", async (route) => {
        await held
        await route.continue()
      })
      await holdsIn(
        page,
        `(() => {
          const place = document.querySelector(".scroller")
          if (place.scrollTop === 300) return document.querySelector(".scroller [data-index='0']") !== null
          place.scrollTop = 300
          return false
        })()`
      )
      await asks
      const top = await mark(page, 2)
      const height = await page.evaluate<number>(`document.querySelector(".scroller").scrollHeight`)
      letGo()
      await holdsIn(page, `document.querySelector(".scroller").scrollHeight > ${height + 1_000}`)
      const after = await page.evaluate<number>(
        `(async () => {
          await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
          const place = document.querySelector(".scroller").getBoundingClientRect()
          const row = document.querySelector(".scroller [data-read]")
          return row === null ? 1e6 : row.getBoundingClientRect().top - place.top
        })()`
      )
      assert.approximately(after, top, 3)
    })
  })
})

describe("the events", () => {
  it("that are filtered say which of the log they are of, and the search reads on to one that fits", async () => {
    await open(`/threads/${long.threadId}?view=events`, async ({ page }) => {
      await page.getByText(`#${long.lastSeq} `).first().waitFor()
      await page.getByLabel("Text").fill(`"Title 3"`)
      await page.getByLabel("Type").selectOption("tool_intent")
      await page.getByText(/\d+ of the events #\d+ to #\d+ that are loaded; the log has \d+/).waitFor()
      await page.getByRole("button", { name: "Search before them" }).click()
      await page
        .getByRole("region", { name: /^Event \d+$/ })
        .getByText('"title": "Title 3"')
        .waitFor()
      await page.getByLabel("Text").fill("nowhere at all")
      await page.getByRole("button", { name: "Search behind them" }).click()
      await page.getByText("There is none.").waitFor()
    })
  })
})

describe("the timeline", () => {
  it("has a lane for each kind of work, and a bar leads to its event by mouse and by keyboard", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, `${call("thread.rename", { title: "Drawn" })}\n${call(tool)}\n/then\n/say done`)
    const [wait] = await waitsOf(alpha, threadId)
    await resolveWait(alpha, threadId, wait?.id ?? "", { type: "tool_result", output: 1 })
    const log: ReadonlyArray<Event> = await logOf(alpha, threadId, ended(1))
    const intent = only(log, "tool_intent").find(({ toolName }) => toolName === "thread.rename")
    await open(`/threads/${threadId}?view=timeline`, async ({ page }) => {
      const lane = (name: string) => page.getByRole("group", { name, exact: true }).getByRole("option")
      await lane("Tools").first().waitFor()
      assert.strictEqual(await lane("Inputs").count(), 1)
      assert.strictEqual(await lane("Waits").count(), 1)
      assert.isAtLeast(await lane("Model").count(), 1)
      await page.getByRole("listbox", { name: "What went on" }).press("End")
      await page.getByText(/^Model: troupe\/scripted, .*, event \d+$/).waitFor()
      await page.getByRole("button", { name: "Zoom in" }).click()
      await page.getByRole("option", { name: /^Tools: thread\.rename/ }).click()
      await page.getByRole("region", { name: `Event ${intent?.seq}` }).waitFor()
      await page.goBack()
      await page.getByRole("listbox", { name: "What went on" }).press("Home")
      await page.getByRole("listbox", { name: "What went on" }).press("Enter")
      await page.getByRole("region", { name: "Event 1" }).waitFor()
    })
  })

  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 240_000
  }, async () => {
    await open(`/threads/${long.threadId}?view=timeline`, async ({ page }) => {
      await page.getByRole("option").first().waitFor()
      await isFitForAll(page, "timeline")
    })
  })
})
