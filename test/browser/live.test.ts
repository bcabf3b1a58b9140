/** The console while things go wrong, and in more tabs than a browser has connections. */
import { assert, describe, inject, it } from "vitest"
import pg from "pg"
import type { Page, Route } from "playwright-core"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole } from "../setup/console.ts"
import { type Open, openConsole, visiting } from "../setup/consolePage.ts"
import { Client, startServer } from "../setup/server.ts"
import { switchboard } from "../setup/switchboard.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import { eventually } from "../waiting.ts"

/** Nobody reads what nodes log while their database is away. */
const lines = { write: () => {}, flush: () => {} }
const rates = { credential: 0.02, burst: 150 }

const served = { console: await buildConsole() }
const server = await during(startServer({ served, lines }))
/** A second node, which is slow to take requests of one key. */
const other = await during(startServer({ served, beside: server, name: "other", rates, lines }))
const alpha = server.alpha
const browser = await during(launchBrowser())
const agentId = await makeAgent(alpha)

/** Much is tried again here, with growing pauses, before it is said. */
const patiently = (use: (open: Open) => Promise<void>) => (opened: Open) => {
  opened.page.setDefaultTimeout(60_000)
  return use(opened)
}

const visit = visiting(() => ({ browser, base: server.base, token: alpha.token }))
const open = (path: string, use: (open: Open) => Promise<void>, more: { token?: string } = {}) =>
  visit(path, patiently(use), more)

/** In a browser of its own. */
const openAlone = (path: string, use: (open: Open) => Promise<void>, where: { base?: string; token?: string } = {}) =>
  openConsole(browser, { base: server.base, token: alpha.token, path, ...where }, patiently(use))

const message = (page: Page) => page.getByRole("textbox", { name: "Message" })
const send = (page: Page) => page.getByRole("button", { name: "Send" }).click()

/** Streams that are open in all tabs of a browser. */
const streams = (page: Page) =>
  page.evaluate<number>(
    `navigator.locks.query().then(({ held }) => held.filter(({ name }) => name.startsWith("troupe.stream.")).length)`
  )

describe("streams", () => {
  it("are four in nine tabs, none of which waits for an answer, and all see what happens", async () => {
    const threadId = await makeThread(alpha, agentId)
    await openAlone(`/threads/${threadId}`, async ({ page, seen }) => {
      const asked: Array<string> = []
      const more = Array.from({ length: 8 }, async () => {
        const next = await page.context().newPage()
        next.setDefaultTimeout(60_000)
        next.on("request", (request) => asked.push(request.url()))
        await next.goto(`${server.base}/console/threads/${threadId}`)
        return next
      })
      const pages = [page, ...(await Promise.all(more))]
      for (const each of pages) await message(each).waitFor()
      await eventually(async () => (await streams(page)) === 4, "four streams are open")
      await submit(alpha, threadId, "seen by all")
      for (const each of pages) await each.getByText("You said: seen by all").waitFor()
      assert.strictEqual(await streams(page), 4)
      assert.deepStrictEqual(
        [...asked, ...seen.asked].filter((url) => url.includes("waitSeconds")),
        []
      )
    })
  }, 180_000)

  it("do not begin in a page that was left before it had its log", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    await open("/threads", async ({ page, seen }) => {
      let letGo = () => {}
      const held = new Promise<void>((resolve) => {
        letGo = resolve
      })
      await page.route("**/events?afterSeq=*", async (route) => {
        await held
        // Where the page has ended the request there is nothing left to answer.
        await route.continue().catch(() => undefined)
      })
      const asks = page.waitForRequest((request) => request.url().includes("/events?afterSeq="))
      await page.getByLabel("Go to a thread by its id").fill(threadId)
      await page.keyboard.press("Enter")
      await asks
      await page.getByRole("link", { name: "Threads" }).click()
      await page.getByRole("heading", { name: "Threads" }).waitFor()
      letGo()
      await page.unrouteAll({ behavior: "wait" })
      // The next look at the list comes after whatever the answer would have led to.
      await Promise.all([
        page.waitForResponse((answer) => answer.url().includes("/v1/threads?")),
        makeThread(alpha, agentId).then((next) => submit(alpha, next, "two"))
      ])
      assert.deepStrictEqual(
        seen.asked.filter((url) => url.includes(`/threads/${threadId}/events/stream`)),
        []
      )
      assert.strictEqual(await streams(page), 1)
    })
  })
})

describe("a key", () => {
  it("is kept while nobody answers for it, and the page comes by itself when somebody does", async () => {
    await open("/threads", async ({ page, seen }) => {
      await page.route("**/v1/auth", (route) => route.abort("connectionrefused"))
      await page.reload()
      await page.getByRole("alert").getByText("The key is kept").waitFor()
      assert.strictEqual(await page.evaluate('sessionStorage.getItem("troupe.key")'), alpha.token)
      await page.unroute("**/v1/auth")
      await page.getByRole("heading", { name: "Threads" }).waitFor()
      seen.complaints.splice(0)
    })
  })

  it("that is revoked under an open page leads to the sign-in, and nothing typed is lost", async () => {
    const threadId = await makeThread(alpha, agentId)
    const { body } = await alpha.post("/v1/auth/keys", { name: "short", scopes: ["read", "run"] })
    await open(
      `/threads/${threadId}`,
      async ({ page, seen }) => {
        await message(page).fill("half a thought")
        // While the message is on its way: the page would leave by itself before anybody could send it.
        const revoking = async (route: Route) => {
          assert.strictEqual((await alpha.delete(`/v1/auth/keys/${body.key.id}`)).status, 204)
          await route.continue()
        }
        await page.route("**/v1/threads/*/messages", revoking, { times: 1 })
        await send(page)
        await page.getByText("does not know this key, or it was revoked").waitFor()
        assert.isFalse(await message(page).isVisible())
        assert.isNull(await page.evaluate('sessionStorage.getItem("troupe.key")'))
        await page.getByLabel("API key").fill(alpha.token ?? "")
        await page.keyboard.press("Enter")
        await message(page).waitFor()
        assert.strictEqual(await message(page).inputValue(), "half a thought")
        await send(page)
        await page.getByText("You said: half a thought").waitFor()
        seen.complaints.splice(0)
      },
      { token: body.token }
    )
  })

  it("that asks too often is told so, and its message stays", async () => {
    const threadId = await makeThread(alpha, agentId)
    const { body } = await alpha.post("/v1/auth/keys", { name: "busy", scopes: ["read", "run"] })
    const busy = new Client(other.base, body.token)
    await openAlone(
      `/threads/${threadId}`,
      async ({ page, seen }) => {
        await message(page).fill("too soon")
        while ((await busy.get("/v1/auth")).status !== 429);
        await send(page)
        await page.getByRole("alert").getByText("429 rate_limited").first().waitFor()
        assert.strictEqual(await message(page).inputValue(), "too soon")
        seen.complaints.splice(0)
      },
      { base: other.base, token: body.token }
    )
  })
})

const whileDatabaseIsAway = async (act: () => Promise<void>) => {
  const name = new URL(server.url).pathname.slice(1)
  const admin = new pg.Client({ connectionString: inject("databaseUrl") })
  await admin.connect()
  try {
    await admin.query(`alter database ${name} with allow_connections false`)
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name])
    await act()
  } finally {
    await admin.query(`alter database ${name} with allow_connections true`)
    await admin.end()
  }
}

describe("a database that is away", () => {
  it("costs neither what was typed nor the key, and the page comes back by itself", async () => {
    const threadId = await makeThread(alpha, agentId)
    await open(`/threads/${threadId}`, async ({ page, seen }) => {
      await message(page).fill("kept")
      await whileDatabaseIsAway(async () => {
        await send(page)
        await page.locator(".composer").getByRole("alert").waitFor()
        assert.strictEqual(await message(page).inputValue(), "kept")
        await page.reload()
        await page.getByRole("alert").first().waitFor()
        assert.strictEqual(await page.evaluate('sessionStorage.getItem("troupe.key")'), alpha.token)
      })
      await message(page).waitFor()
      seen.complaints.splice(0)
    })
  }, 240_000)
})

describe("a node that is killed under a watching page", () => {
  it("is missed, in words, and the next node goes on with what the log has", async () => {
    const threadId = await makeThread(alpha, agentId)
    const dying = await startServer({ served, beside: server, name: "dying", lines })
    const board = await switchboard(dying.base)
    try {
      await openAlone(
        `/threads/${threadId}`,
        async ({ page, seen }) => {
          await submit(alpha, threadId, "before")
          await page.getByText("You said: before").waitFor()
          board.cut()
          await dying.stop()
          await page.getByRole("status").filter({ hasText: "No line to the server" }).waitFor()
          await submit(alpha, threadId, "meanwhile")
          await logOf(alpha, threadId, ended(2))
          board.lead(server.base)
          await page.getByText("You said: meanwhile").waitFor()
          await page.getByRole("status").filter({ hasText: "No line to the server" }).waitFor({ state: "detached" })
          assert.strictEqual(await page.getByText("You said: before").count(), 1)
          seen.complaints.splice(0)
        },
        { base: board.base }
      )
    } finally {
      await board.stop()
    }
  }, 240_000)
})
