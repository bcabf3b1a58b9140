/** The console's pages for what is configured, in a real browser. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import { makeAgent } from "../http/threadFixture.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole } from "../setup/console.ts"
import { isFitForAll, type Open, openConsole, themes } from "../setup/consolePage.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"

let server: TestServer
let alpha: Client
let browser: Browser
let built: Awaited<ReturnType<typeof buildConsole>>
let agentId: string
let profileId: string
let roleId: string
beforeAll(async () => {
  built = await buildConsole()
  server = await startServer({ served: { console: built.folder } })
  alpha = server.alpha
  browser = await launchBrowser()
  agentId = await makeAgent(alpha)
  profileId = (await alpha.get(`/v1/agents/${agentId}`)).body.agent.profileId
  const role = await alpha.post("/v1/roles", { name: "asks", allow: [{ tools: "thread.*", approval: "required" }] })
  roleId = role.body.role.id
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await built?.remove()
})

const open = (path: string, use: (open: Open) => Promise<void>, more: { token?: string; options?: object } = {}) =>
  openConsole(browser, { base: server.base, token: alpha.token, path, ...more }, use)

describe("a profile", () => {
  it("is changed as YAML, with what changes shown before, and its versions are compared", async () => {
    await open(`/profiles/${profileId}`, async ({ page }) => {
      const yaml = page.getByLabel("Profile, as YAML")
      const save = page.getByRole("button", { name: "Save a new version" })
      assert.isTrue(await save.isDisabled())
      await yaml.fill(`${(await yaml.inputValue()).replace("name: Tester", "name: Renamed")}description: Talks\n`)
      const changes = await page.getByRole("region", { name: "What changes" }).first().innerText()
      assert.include(changes, "- name: Tester")
      assert.include(changes, "+ description: Talks")
      await save.click()
      await page.getByRole("heading", { name: "Renamed" }).waitFor()
      await page.getByRole("region", { name: "What changes" }).getByText("+ name: Renamed").waitFor()
    })
    const { profile } = (await alpha.get(`/v1/profiles/${profileId}`)).body
    assert.deepInclude(profile, { version: 2, name: "Renamed", description: "Talks", models: ["troupe/scripted"] })
  })

  it("that the server refuses stays as it was typed, beside what the server says", async () => {
    await open(`/profiles/${profileId}`, async ({ page, seen }) => {
      const yaml = page.getByLabel("Profile, as YAML")
      const text = (await yaml.inputValue()).replace("maxSteps: ", "maxSteps: 9999")
      await yaml.fill(text)
      await page.getByRole("button", { name: "Save a new version" }).click()
      await page.getByRole("alert").getByText("maxSteps").waitFor()
      assert.strictEqual(await yaml.inputValue(), text)
      await yaml.fill("name: [")
      assert.isTrue(await page.getByRole("button", { name: "Save a new version" }).isDisabled())
      seen.complaints.splice(0)
    })
  })

  it("that somebody else has changed since is not overwritten", async () => {
    await open(`/profiles/${profileId}`, async ({ page, seen }) => {
      const yaml = page.getByLabel("Profile, as YAML")
      await yaml.fill(`${await yaml.inputValue()}systemPrompt: Mine\n`)
      await alpha.patch(`/v1/profiles/${profileId}`, { description: "Theirs" })
      await page.getByRole("button", { name: "Save a new version" }).click()
      await page.getByRole("alert").getByText("412 precondition_failed").waitFor()
      assert.include(await yaml.inputValue(), "systemPrompt: Mine")
      await page.getByRole("region", { name: "What changes" }).first().getByText("- description: Theirs").waitFor()
      seen.complaints.splice(0)
    })
  })
})

describe("a role", () => {
  it("explains what it decides, and is changed", async () => {
    await open("/roles", async ({ page }) => {
      await page.getByLabel("Profile, or roles").fill(roleId)
      await page.getByLabel("Tool").fill("thread.rename")
      await page.getByRole("button", { name: "Explain" }).click()
      await page.getByRole("region", { name: "What the roles say" }).getByText("with a person's approval").waitFor()
      await page.getByRole("link", { name: "asks" }).click()
      const yaml = page.getByLabel("Role, as YAML")
      await yaml.fill(`${await yaml.inputValue()}description: Wants a word\n`)
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved.").waitFor()
    })
    assert.strictEqual((await alpha.get(`/v1/roles/${roleId}`)).body.role.description, "Wants a word")
  })

  it("cannot be changed with a key that may only read", async () => {
    const reader = await alpha.post("/v1/auth/keys", { name: "reader", scopes: ["read"] })
    await open(
      `/roles/${roleId}`,
      async ({ page }) => {
        const remove = page.getByRole("button", { name: "Delete" })
        await remove.waitFor()
        assert.isTrue(await remove.isDisabled())
        assert.strictEqual(await remove.getAttribute("title"), "This key lacks the scope write.")
      },
      { token: reader.body.token }
    )
  })
})

describe("an agent", () => {
  it("is found in the list, and its memory is searched and read by version", async () => {
    const entry = `/v1/agents/${agentId}/memory/entry?key=plan`
    await alpha.put(entry, { value: "first the garden" })
    await alpha.put(entry, { value: "first the kitchen" })
    await open("", async ({ page }) => {
      await page.getByText("Setup").click()
      await page.getByRole("link", { name: "Agents" }).click()
      await page.getByRole("link", { name: "Tester" }).click()
      await page.getByLabel("Search the memory").fill("kitchen")
      await page.keyboard.press("Enter")
      await page.getByRole("region", { name: "Found" }).getByRole("button", { name: "plan" }).click()
      const versions = page.getByRole("region", { name: "Versions of plan" })
      await versions.getByRole("row").nth(1).getByRole("button").click()
      const changes = versions.getByRole("region", { name: "What changes" })
      await changes.getByText("- first the garden").waitFor()
      await changes.getByText("+ first the kitchen").waitFor()
    })
  })
})

describe("the menu of the setup", () => {
  it("leads to its pages from wherever one is, on phones too", async () => {
    await open("/agents", async ({ page }) => {
      await page.getByText("Setup").click()
      await isFitForAll(page, "menu")
      await page.getByRole("link", { name: "Roles" }).click()
      await page.getByRole("heading", { name: "Roles" }).waitFor()
      assert.isFalse(await page.getByRole("link", { name: "Agents" }).isVisible())
    })
  })
})

describe("every page of the setup", () => {
  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 400_000
  }, async () => {
    for (const colorScheme of themes)
      await open(
        "",
        async ({ page }) => {
          for (const [path, ready] of [
            ["/agents", "table"],
            [`/agents/${agentId}`, "textbox"],
            ["/profiles", "table"],
            [`/profiles/${profileId}`, "table"],
            ["/roles", "table"],
            [`/roles/${roleId}`, "textbox"],
            ["/memory", "textbox"]
          ] as const) {
            await page.goto(`${server.base}/console${path}`)
            await page.locator("main").getByRole(ready).first().waitFor()
            await isFitForAll(page, `${path.split("/")[1]}-${colorScheme}`)
          }
        },
        { options: { colorScheme } }
      )
  })
})

describe("the console's files", () => {
  it("are less than 200 kB for the first page, as they are sent", () => {
    const html = readFileSync(join(built.folder, "index.html"), "utf8")
    const first = [...html.matchAll(/\/console\/(assets\/[^"]+\.(?:js|css))/g)].map(([, name = ""]) => name)
    assert.isAbove(first.length, 1)
    const bytes = first.reduce((sum, name) => sum + statSync(join(built.folder, `${name}.br`)).size, 0)
    assert.isBelow(bytes, 200_000)
    assert.isAbove(
      readdirSync(join(built.folder, "assets")).filter((name) => name.endsWith(".js")).length,
      first.length
    )
  })
})
