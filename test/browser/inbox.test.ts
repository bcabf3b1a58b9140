/** The inbox in a real browser: what a key does, and what it must not do. */
import { assert, describe, it } from "@effect/vitest"
import { addToolset, begin, call, makeWorker, only } from "../http/toolFixture.ts"
import { ended, logOf } from "../http/threadFixture.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { sharedConsole } from "../setup/console.ts"
import { type Open, overhang, visiting } from "../setup/consolePage.ts"
import { eventually } from "../waiting.ts"

const server = await sharedConsole()
const alpha = server.alpha
const browser = await during(launchBrowser())
const role = await alpha.post("/v1/roles", {
  name: "asks",
  allow: [{ tools: "*" }, { tools: "thread.rename", approval: "required" }]
})
/** Calls of thread.rename want a person's word. */
const asking = await makeWorker(alpha, {
  roleIds: [role.body.role.id],
  families: ["thread"],
  familyExposure: "always"
})
const toolset = await addToolset(alpha, {
  kind: "client",
  namespace: "desk",
  tools: [{ name: "sign", inputSchema: { type: "object" } }]
})
/** Its calls of `desk.sign` are a client's to execute. */
const signing = await makeWorker(alpha, { toolsetIds: [toolset.id] })

const visit = visiting(() => ({ browser, base: server.base, token: alpha.token }))
const open = (use: (open: Open) => Promise<void>, more: { token?: string } = {}) => visit("", use, more)

const isParked = (log: ReadonlyArray<{ readonly type: string }>) => log.some(({ type }) => type === "wait_created")

const waiting = async (title: string) => {
  const threadId = await begin(alpha, asking, call("thread.rename", { title }))
  await logOf(alpha, threadId, isParked)
  return threadId
}

const titleOf = async (threadId: string) => (await alpha.get(`/v1/threads/${threadId}`)).body.thread.title

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

  it("edits the input, and sends it", async () => {
    const threadId = await waiting("Before")
    await open(async ({ page, seen }) => {
      await page.getByRole("article").waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("e")
      await page.getByLabel("Input, as JSON").waitFor()
      await page.keyboard.press("Escape")
      await page.getByLabel("Reason").waitFor()
      await page.keyboard.press("e")
      await page.getByLabel("Input, as JSON").waitFor()
      await page.keyboard.press("Control+a")
      await page.keyboard.insertText("{")
      assert.isTrue(await page.getByRole("button", { name: "Allow with this input" }).isDisabled())
      await page.keyboard.press("Control+a")
      await page.keyboard.insertText('{\n  "title": "After"\n}')
      await page.getByRole("region", { name: "What changes" }).getByText('+   "title": "After"').waitFor()
      await page.keyboard.press("Control+Enter")
      await logOf(alpha, threadId, ended(1))
      await page.getByText("Nothing waits for you.").waitFor()
      // The list has the input already.
      assert.deepStrictEqual(
        seen.asked.filter((url) => /\/waits\/\w+$/.test(url)),
        []
      )
    })
    assert.strictEqual(await titleOf(threadId), "After")
  })

  it("approves a request of the API", async () => {
    const rules = (require: boolean) => [{ actions: ["agent.create"], principals: ["api_key"], require }]
    await alpha.put("/v1/approval-policy", { rules: rules(true) })
    const { profileId } = (await alpha.get(`/v1/agents/${asking}`)).body.agent
    const parked = await alpha.post("/v1/agents", { name: "Approved", profileId })
    await alpha.put("/v1/approval-policy", { rules: [] })
    const approver = await alpha.post("/v1/auth/keys", { name: "approver", scopes: ["read", "approve"] })
    await open(
      async ({ page }) => {
        await page.getByRole("article", { name: "agent.create" }).getByText('"name": "Approved"').waitFor()
        await page.keyboard.press("j")
        await page.keyboard.press("a")
        await page.getByText("Nothing waits for you.").waitFor()
      },
      { token: approver.body.token }
    )
    const done = await alpha.get(`/v1/operations/${parked.body.operation.id}?waitSeconds=10`)
    assert.strictEqual(done.body.operation.state, "completed")
  })
})

describe("a client's tool", () => {
  it("gets its result by hand", async () => {
    const threadId = await begin(alpha, signing, call("desk.sign"))
    await logOf(alpha, threadId, isParked)
    await open(async ({ page }) => {
      const card = page.getByRole("article", { name: "Result of desk.sign" })
      await card.getByLabel("Output of the tool, as JSON").fill("{signed}")
      await card.getByRole("button", { name: "Send the result" }).click()
      await card.getByRole("alert").getByText("This is no JSON").waitFor()
      await card.getByLabel("Output of the tool, as JSON").fill('{"signed": "by hand"}')
      await card.getByRole("button", { name: "Send the result" }).click()
      await logOf(alpha, threadId, ended(1))
    })
    const [result] = only(await logOf(alpha, threadId, ended(1)), "tool_result")
    assert.deepInclude(result, { toolOutput: { signed: "by hand" } })
  })
})

describe("a key that may only read", () => {
  it("is told the scope of each button, in sight on a phone too, and its keys ask nothing", async () => {
    const threads = [await waiting("Looked at"), await begin(alpha, signing, call("desk.sign"))]
    for (const threadId of threads) await logOf(alpha, threadId, isParked)
    const reader = await alpha.post("/v1/auth/keys", { name: "reader", scopes: ["read"] })
    await open(
      async ({ page, seen }) => {
        await page.setViewportSize({ width: 390, height: 900 })
        const needs = async (name: string, scope: string) => {
          const button = page.getByRole("button", { name, exact: true })
          await button.waitFor()
          assert.isTrue(await button.isDisabled(), name)
          assert.strictEqual(await button.getAttribute("title"), `This key lacks the scope ${scope}.`)
          assert.match(await button.innerText(), new RegExp(`^${name}\\s+needs ${scope}$`))
        }
        for (const name of ["Allow", "Deny"]) await needs(name, "approve")
        for (const name of ["Send the result", "Say that it failed"]) await needs(name, "run")
        assert.strictEqual(await overhang(page), 0)
        await page.setViewportSize({ width: 1280, height: 900 })
        await page.keyboard.press("j")
        await page.keyboard.press("a")
        await page.evaluate("fetch('/healthz')")
        assert.deepStrictEqual(
          seen.asked.filter((url) => url.endsWith("/resolve")),
          []
        )
      },
      { token: reader.body.token }
    )
    for (const threadId of threads) await alpha.post(`/v1/threads/${threadId}/cancel`, {})
  })
})

describe("the list", () => {
  it("begins with what waits for the longest time, and has threads under those that asked for them", async () => {
    const asker = await makeWorker(alpha, { families: ["agents"], familyExposure: "always" })
    const first = await waiting("First")
    const question = call("thread.rename", { title: "Asked" })
    const above = await begin(alpha, asker, call("agents.ask", { agentId: asking, message: question }))
    await alpha.patch(`/v1/threads/${above}`, { title: "The one who asks" })
    const asked = async () => (await alpha.get(`/v1/threads?state=waiting&agentId=${asking}`)).body.threads
    await eventually(async () => (await asked()).length >= 2, "the other one waits too")
    const last = await waiting("Last")
    await open(async ({ page }) => {
      const inputs = page.getByRole("article").getByRole("region", { name: "Input" })
      await inputs.nth(2).waitFor()
      const texts = await inputs.allInnerTexts()
      assert.deepStrictEqual(
        texts.map((text) => /"title": "(\w+)"/.exec(text)?.[1]),
        ["First", "Asked", "Last"]
      )
      await page.getByText("has asked for:").getByRole("link", { name: "The one who asks" }).waitFor()
      await page.getByRole("article").nth(1).getByRole("link", { name: "The one who asks" }).click()
      await page.getByRole("heading", { name: "The one who asks" }).waitFor()
    })
    for (const threadId of [first, above, last]) await alpha.post(`/v1/threads/${threadId}/cancel`, {})
  })
})
