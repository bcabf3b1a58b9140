/** The console as people use it, in a real browser: nothing from elsewhere, nothing to complain of. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { sharedConsole } from "../setup/console.ts"
import { go, holdsIn, isFitForAll, overhang, shoot, turnTo, visiting } from "../setup/consolePage.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import { addToolset, fresh, makeWorker, resolveWait, waitsOf } from "../http/toolFixture.ts"

const server = await sharedConsole()
const alpha = server.alpha
const browser = await during(launchBrowser())
const role = await alpha.post("/v1/roles", {
  name: "asks",
  allow: [{ tools: "*" }, { tools: "thread.rename", approval: "required" }]
})
/** Calls of thread.rename want a person's word. */
const asking = await makeAgent(alpha, ["troupe/scripted"])
const { profileId } = (await alpha.get(`/v1/agents/${asking}`)).body.agent
const patched = await alpha.patch(`/v1/profiles/${profileId}`, {
  roleIds: [role.body.role.id],
  families: ["thread"],
  familyExposure: "always"
})
assert.strictEqual(patched.status, 200, patched.text)
const plain = await makeAgent(alpha)

const open = visiting(() => ({ browser, base: server.base, token: alpha.token }))

const waiting = async (title: string) => {
  const threadId = await makeThread(alpha, asking)
  await submit(alpha, threadId, `/call thread.rename {"title":"${title}"}`)
  await logOf(alpha, threadId, (log) => log.some(({ type }) => type === "wait_created"))
  return threadId
}

describe("signing in", () => {
  it("takes a key that is typed in, says what a wrong one lacks, and forgets it in all tabs", async () => {
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${server.base}/console/threads`)
      await page.getByLabel("API key").fill("trp_wrong")
      await page.keyboard.press("Enter")
      await page.getByRole("alert").getByText("does not know this key").waitFor()
      const runner = await alpha.post("/v1/auth/keys", { name: "runner", scopes: ["run"] })
      await page.getByLabel("API key").fill(runner.body.token)
      await page.keyboard.press("Enter")
      await page.getByRole("alert").getByText("nothing to a key without the scope read").waitFor()
      assert.notInclude(await page.getByRole("alert").innerText(), "tried again")
      const identity = `${fresh("off")}@example.com`
      const disabled = await alpha.post("/v1/auth/keys", { name: "off", scopes: ["read"], identity })
      await alpha.post("/v1/identities/disable", { identity })
      await page.getByLabel("API key").fill(disabled.body.token)
      await page.keyboard.press("Enter")
      await page.getByRole("alert").getByText("the identity of this credential is disabled").waitFor()
      await page.getByLabel("API key").fill(alpha.token ?? "")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Threads" }).waitFor()
      const second = await context.newPage()
      await second.goto(`${server.base}/console`)
      await second.getByRole("heading", { name: "Inbox" }).waitFor()
      await second.getByRole("button", { name: "Sign out" }).click()
      await page.getByLabel("API key").waitFor()
      assert.isNull(await page.evaluate('sessionStorage.getItem("troupe.key")'))
    } finally {
      await context.close()
    }
  })

  it("takes the key of the address out of it at once", async () => {
    await open("", async ({ page }) => {
      await page.getByRole("heading", { name: "Inbox" }).waitFor()
      assert.strictEqual(page.url(), `${server.base}/console`)
    })
  })
})

describe("the inbox", () => {
  it("allows by keyboard alone, and the call is made", async () => {
    const threadId = await waiting("Allowed")
    await open("", async ({ page }) => {
      await page.getByRole("article", { name: "thread.rename, before the call" }).waitFor()
      assert.match(await page.title(), /^\(\d+\) Troupe$/)
      await page.keyboard.press("j")
      await page.keyboard.press("a")
      await logOf(alpha, threadId, ended(1))
      await page.getByText("Nothing waits for you.").waitFor()
    })
    assert.strictEqual((await alpha.get(`/v1/threads/${threadId}`)).body.thread.title, "Allowed")
  })

  it("denies with a reason that the log keeps", async () => {
    const threadId = await waiting("Denied")
    await open("", async ({ page }) => {
      await page.getByRole("article").waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("d")
      await page.keyboard.type("not this name")
      await page.keyboard.press("Enter")
      const log = await logOf(alpha, threadId, ended(1))
      assert.include(JSON.stringify(log.find(({ type }) => type === "wait_resolved")), "not this name")
    })
  })
})

describe("a list of threads", () => {
  it("asks for its first page alone when one of them changes, and shows the change", async () => {
    const agent = await makeAgent(alpha)
    const made: Array<string> = []
    for (let i = 0; i < 60; i++) made.push(await makeThread(alpha, agent, { title: `Thread ${i}` }))
    await open(`/threads?agentId=${agent}`, async ({ page, seen }) => {
      await page.getByText("Thread 59", { exact: true }).waitFor()
      await holdsIn(
        page,
        `(() => {
          const place = document.querySelector(".scroller")
          place.scrollTop = place.scrollHeight
          return [...place.querySelectorAll(".title")].some((title) => title.innerText === "Thread 0")
        })()`
      )
      seen.asked.splice(0)
      await submit(alpha, made[0] ?? "", "awake")
      await page.evaluate(`document.querySelector(".scroller").scrollTop = 0`)
      await page.locator(".scroller li").first().getByText("Thread 0", { exact: true }).waitFor()
      const asked = seen.asked.filter((url) => url.includes("/v1/threads?") && url.includes("limit=50"))
      assert.isNotEmpty(asked)
      assert.deepStrictEqual(
        asked.filter((url) => url.includes("cursor=")),
        []
      )
    })
  })
})

describe("a thread", () => {
  it("is seen while it happens: text as it is written, a queue, a steer, an interrupt", async () => {
    const threadId = await makeThread(alpha, plain)
    await open(`/threads/${threadId}`, async ({ page }) => {
      const message = page.getByRole("textbox", { name: "Message" })
      await message.fill("/chunks 20 100ms\n/say one two three four five six seven eight")
      await page.keyboard.press("Control+Enter")
      await page.getByRole("article", { name: "Answer that is being written" }).waitFor()
      await page.getByRole("article", { name: "Answer", exact: true }).waitFor()
      await page.getByText("turn completed").waitFor()
      await message.fill("/wait 600s\nbusy")
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByText("● running").waitFor()
      await message.fill("later")
      await page.getByRole("button", { name: "Send" }).click()
      const queue = page.getByRole("region", { name: "Queue" })
      await queue.getByText("later").waitFor()
      await queue.getByRole("button", { name: "Edit" }).click()
      await queue.getByLabel("The input's words").fill("sooner")
      await queue.getByRole("button", { name: "Save" }).click()
      await queue.getByText("sooner").waitFor()
      await shoot(page, "queue")
      await queue.getByRole("button", { name: "Interrupt with it" }).click()
      await page.getByText("You said: sooner").waitFor()
      await page.getByText("turn cancelled").waitFor()
      await page.getByText("○ idle").waitFor()
    })
  })

  it("is led to by its id, and an event by its number", async () => {
    const threadId = await makeThread(alpha, plain)
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    await open("", async ({ page }) => {
      await page.getByLabel("Go to a thread by its id").fill(threadId)
      await page.keyboard.press("Enter")
      await page.getByText("You said: one").waitFor()
      await go(page, `/threads/${threadId}?view=events&seq=2`)
      await page.getByRole("region", { name: "Event 2" }).getByText('"type": "assistant_message"').waitFor()
    })
  })

  it("shows its turns with what they came to, and threads are found by their state", async () => {
    const agentId = await makeAgent(alpha)
    const threadId = await makeThread(alpha, agentId, { title: "Has failed" })
    await makeThread(alpha, agentId, { title: "Rests" })
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    await submit(alpha, threadId, "/error model_error")
    await logOf(alpha, threadId, ended(2))
    await open(`/threads?agentId=${agentId}`, async ({ page }) => {
      await page.getByText("Rests").waitFor()
      await page.getByLabel("State").selectOption("failed")
      await page.getByText("Rests").waitFor({ state: "detached" })
      await page.getByText("Has failed").click()
      await page.getByRole("link", { name: "Turns" }).click()
      const rows = page.getByRole("table").getByRole("row")
      await rows.nth(2).getByText("completed").waitFor()
      await rows.nth(1).getByText("failed: model_error").waitFor()
      await rows.nth(2).getByRole("link").click()
      await page.getByRole("region", { name: "Event 1" }).getByText('"type": "user_message"').waitFor()
    })
  })

  it("is found by agents of any page of them, and by an identity whose box says which is looked for", async () => {
    const [older, newest] = [fresh("Older "), fresh("Newest ")]
    const title = `Of the ${older}`
    await makeThread(alpha, await makeAgent(alpha, ["troupe/scripted"], { name: older }), { title })
    await makeAgent(alpha, ["troupe/scripted"], { name: newest })
    await open("/limits", async ({ page }) => {
      // A page of one: the agent is on the second.
      await page.route("**/v1/agents?*", (route) =>
        route.continue({ url: route.request().url().replace("limit=200", "limit=1") })
      )
      await turnTo(page, "/threads")
      const agents = page.getByLabel("Agent", { exact: true })
      await agents.getByRole("option", { name: newest }).waitFor({ state: "attached" })
      await page.getByRole("button", { name: "More agents" }).click()
      await agents.selectOption({ label: older })
      await page.getByRole("link", { name: title }).getByText(`${older} ·`).waitFor()
      const identity = page.getByLabel("Identity")
      await identity.fill(" nobody ")
      await identity.press("Enter")
      await page.getByText("There is no such thread.").waitFor()
      await holdsIn(page, `new URLSearchParams(location.search).get("identity") === "nobody"`)
      assert.strictEqual(await identity.inputValue(), "nobody")
      await go(page, "/threads")
      await page.getByRole("link", { name: title }).waitFor()
      assert.strictEqual(await identity.inputValue(), "")
    })
  })

  it("full of hostile text loads nothing, runs nothing, and stays within its width", async () => {
    const { id, namespace } = await addToolset(alpha, {
      kind: "client",
      tools: [{ name: "read", inputSchema: { type: "object" } }]
    })
    const reader = await makeWorker(alpha, { toolsetIds: [id] })
    const threadId = await makeThread(alpha, reader, { title: "‮evil <img src=x onerror=alert(1)>" })
    const hostile = [
      "![steal](http://127.0.0.1:9/pixel.png?secret)",
      "<script>alert(1)</script><img src=x onerror=alert(2)>",
      "[click](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>)",
      "a‮b​c",
      "e&#x202e;f"
    ].join("\n\n")
    await submit(alpha, threadId, hostile)
    await logOf(alpha, threadId, ended(1))
    // As long a line as a tool may answer with.
    await submit(alpha, threadId, `/call ${namespace}.read {}\n/say done`)
    const [wait] = await waitsOf(alpha, threadId)
    const line = "x".repeat(limits.toolOutputBytes - 2)
    await resolveWait(alpha, threadId, wait?.id ?? "", { type: "tool_result", output: line })
    await logOf(alpha, threadId, ended(2))
    await open(`/threads/${threadId}`, async ({ page }) => {
      await page.getByText("turn completed").last().waitFor()
      await page.getByText("e⟨U+202E⟩f").waitFor()
      await page
        .locator("summary", { hasText: `${namespace}.read` })
        .first()
        .click()
      await page.getByText("xxxxxxxxxxxx").first().waitFor()
      assert.strictEqual(await page.locator("main img, main script").count(), 0)
      const links = await page.locator(".markdown a").all()
      for (const link of links) assert.match((await link.getAttribute("href")) ?? "", /^(?:https?|mailto):/)
      assert.strictEqual(await overhang(page), 0)
      await page.getByText("a⟨U+202E⟩b⟨U+200B⟩c").first().waitFor()
      await page.getByRole("heading", { name: "⟨U+202E⟩evil <img src=x onerror=alert(1)>" }).waitFor()
      await shoot(page, "hostile")
      await turnTo(page, `/threads?agentId=${reader}`)
      await page.getByRole("link", { name: "⟨U+202E⟩evil <img src=x onerror=alert(1)>" }).waitFor()
      assert.strictEqual(await page.locator("main img").count(), 0)
      assert.strictEqual(await overhang(page), 0)
    })
  })

  it("that is gone says so, and nothing typed is lost where a message is refused", async () => {
    const threadId = await makeThread(alpha, plain)
    await open("/threads/thr_00000000000000000000000000", async ({ page, seen }) => {
      await page.getByRole("alert").getByText("404 not_found").waitFor()
      await go(page, `/threads/${threadId}`)
      const message = page.getByRole("textbox", { name: "Message" })
      await message.fill("y".repeat(300_000))
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByRole("alert").getByText("400 invalid_request").waitFor()
      assert.strictEqual((await message.inputValue()).length, 300_000)
      // The browser itself tells of every answer that is no success.
      seen.complaints.splice(0)
    })
  })
})

describe("a page over plain http from another machine", () => {
  it("asks where it cannot count its streams, sends, and says what the browser does not let it copy", async () => {
    const threadId = await makeThread(alpha, plain)
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      const far = "http://elsewhere.invalid"
      const asked: Array<string> = []
      // Such a name leads nowhere: what is asked of it is asked of the server.
      await page.route(`${far}/**`, async (route) => {
        const url = route.request().url()
        asked.push(url)
        await route.fulfill({ response: await route.fetch({ url: url.replace(far, server.base) }) })
      })
      await page.goto(`${far}/console/threads/${threadId}#key=${alpha.token}`)
      const message = page.getByRole("textbox", { name: "Message" })
      await message.fill("sent over http")
      assert.deepStrictEqual(
        await page.evaluate(
          `[isSecureContext, "locks" in navigator, "clipboard" in navigator, "randomUUID" in crypto]`
        ),
        [false, false, false, false]
      )
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByText("You said: sent over http").waitFor()
      await page.getByRole("button", { name: threadId }).click()
      await page.getByRole("button", { name: "not allowed" }).waitFor()
      assert.deepStrictEqual(
        asked.filter((url) => url.includes("/stream")),
        []
      )
    } finally {
      await context.close()
    }
  })
})

describe("every page", () => {
  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 240_000
  }, async () => {
    const threadId = await waiting("Seen by everybody")
    await open("", async ({ page }) => {
      await page.getByRole("article").first().waitFor()
      await isFitForAll(page, "inbox")
      await turnTo(page, "/threads")
      await page.getByRole("region", { name: "Threads" }).getByRole("link").first().waitFor()
      await isFitForAll(page, "threads")
      await turnTo(page, `/threads/${threadId}`)
      await page.getByRole("article").nth(1).waitFor()
      await isFitForAll(page, "thread")
      await go(page, `/threads/${threadId}?view=events&seq=2`)
      await page.getByRole("region", { name: "Event 2" }).waitFor()
      await isFitForAll(page, "events")
      await go(page, `/threads/${threadId}?view=turns`)
      await page.getByRole("row").nth(1).waitFor()
      await isFitForAll(page, "turns")
    })
  })
})
