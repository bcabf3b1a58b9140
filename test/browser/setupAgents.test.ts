/** The console's pages for what agents are made of, and what wakes them, in a real browser. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { fresh } from "../http/toolFixture.ts"
import type { Client } from "../setup/server.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { sharedConsole } from "../setup/console.ts"
import { pasteYaml, turnTo, visiting, yamlOf } from "../setup/consolePage.ts"
import { configure } from "./configured.ts"

const server = await sharedConsole()
const browser = await during(launchBrowser())
/** Each test's own, in a workspace of its own: it may be run again. */
let alpha: Client
let agentId: string
let profileId: string
let roleId: string
let scheduleId: string
let subscriptionId: string
beforeEach(async () => {
  alpha = await server.client(await server.workspace(fresh("setup")))
  ;({ agentId, profileId, roleId, scheduleId, subscriptionId } = await configure(alpha))
})

const tinyPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12P4DwABAQEAG7buVgAAAABJRU5ErkJggg==",
  "base64"
)

const open = visiting(() => ({ browser, base: server.base, token: alpha.token }))

describe("a profile", () => {
  it("is changed as YAML, with what changes shown before, and its versions are compared", async () => {
    await open(`/profiles/${profileId}`, async ({ page }) => {
      const yaml = page.getByLabel("Profile, as YAML")
      const save = page.getByRole("button", { name: "Save a new version" })
      assert.isTrue(await save.isDisabled())
      await pasteYaml(yaml, `${(await yamlOf(yaml)).replace("name: Tester", "name: Renamed")}description: Talks\n`)
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
      const text = (await yamlOf(yaml)).replace("maxSteps: ", "maxSteps: 9999")
      await pasteYaml(yaml, text)
      await page.getByRole("button", { name: "Save a new version" }).click()
      await page.getByRole("alert").getByText("maxSteps").waitFor()
      assert.strictEqual(await yamlOf(yaml), text)
      await pasteYaml(yaml, "name: [")
      assert.isTrue(await page.getByRole("button", { name: "Save a new version" }).isDisabled())
      assert.deepStrictEqual(await yaml.locator(".wrong").allTextContents(), ["name: ["])
      seen.complaints.splice(0)
    })
  })

  it("that somebody else has changed since is not overwritten", async () => {
    await open(`/profiles/${profileId}`, async ({ page, seen }) => {
      const yaml = page.getByLabel("Profile, as YAML")
      await pasteYaml(yaml, `${await yamlOf(yaml)}systemPrompt: Mine\n`)
      await alpha.patch(`/v1/profiles/${profileId}`, { description: "Theirs" })
      await page.getByRole("button", { name: "Save a new version" }).click()
      await page.getByRole("alert").getByText("412 precondition_failed").waitFor()
      assert.include(await yamlOf(yaml), "systemPrompt: Mine")
      await page.getByRole("region", { name: "What changes" }).first().getByText("- description: Theirs").waitFor()
      seen.complaints.splice(0)
    })
  })

  it("is held against what it was typed over, also where the page has read what somebody else has changed", async () => {
    const schedule = `/v1/agents/${agentId}/schedules/${scheduleId}`
    await open(`/agents/${agentId}/schedules/${scheduleId}`, async ({ page, seen }) => {
      const yaml = page.getByLabel("Schedule, as YAML")
      await pasteYaml(yaml, (await yamlOf(yaml)).replace("overlap: skip", "overlap: queue"))
      await alpha.patch(schedule, { name: "theirs" })
      await page.getByRole("button", { name: "Run it now" }).click()
      await page.getByRole("heading", { name: "theirs" }).waitFor()
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("alert").getByText("412 precondition_failed").waitFor()
      await page.getByRole("region", { name: "What changes" }).getByText("- name: theirs").waitFor()
      seen.complaints.splice(0)
    })
    assert.deepInclude((await alpha.get(schedule)).body.schedule, { name: "theirs", overlap: "skip" })
    await alpha.patch(schedule, { name: "daily" })
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
      await page.getByRole("heading", { name: "asks" }).waitFor()
      const yaml = page.getByLabel("Role, as YAML")
      await pasteYaml(yaml, `${await yamlOf(yaml)}description: Wants a word\n`)
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
        assert.include(await remove.innerText(), "needs write")
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

  it("gets notes and images by hand, and old notes are erased", async () => {
    const entry = (key: string) => alpha.get(`/v1/agents/${agentId}/memory/entry?key=${key}`)
    await open(`/agents/${agentId}`, async ({ page, seen }) => {
      await page.getByText("New entry", { exact: true }).click()
      await page.getByLabel("Key", { exact: true }).fill("secret")
      await page.getByLabel("Its value").fill("the door is open")
      await page.getByRole("button", { name: "Write the new entry" }).click()
      const versions = page.getByRole("region", { name: "Versions of secret" })
      const value = versions.getByLabel("Value", { exact: true })
      await value.fill("the door is shut")
      await alpha.put(`/v1/agents/${agentId}/memory/entry?key=secret`, { value: "the door is ajar" })
      const write = versions.getByRole("button", { name: "Write" })
      await write.click()
      await versions.getByRole("alert").getByText("memory_conflict").waitFor()
      // What was typed stands over what somebody else has written, and is written over that.
      await versions.getByText("- the door is ajar").waitFor()
      assert.strictEqual(await value.inputValue(), "the door is shut")
      seen.complaints.splice(0)
      await write.click()
      await versions.getByText("Written.").waitFor()
      const rows = versions.getByRole("region", { name: "Versions", exact: true }).getByRole("row")
      await rows.nth(3).getByRole("button").click()
      await versions.getByText("the door is open").last().waitFor()
      await versions.getByRole("button", { name: "Redact this version" }).click()
      await versions.getByRole("button", { name: "Erase its value for good" }).click()
      await versions.getByText("Its value was erased").waitFor()
      await page.getByLabel("New image").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: tinyPng })
      await page.getByRole("button", { name: "Upload" }).click()
      await page.getByRole("button", { name: "img_" }).click()
      await page.getByRole("img", { name: "img_" }).waitFor()
    })
    const { body } = await entry("secret")
    assert.strictEqual(body.entry.value, "the door is shut")
    const { versions } = (await alpha.get(`/v1/agents/${agentId}/memory/entry/versions?key=secret`)).body
    assert.deepStrictEqual(
      versions.map(({ redactedAt }: { redactedAt?: string }) => redactedAt !== undefined),
      [false, false, true]
    )
  })
})

describe("what is archived", () => {
  it("is in a list where it is wanted there", async () => {
    const profile = await alpha.post("/v1/profiles", { name: "Old profile", models: ["troupe/scripted"] })
    await alpha.delete(`/v1/profiles/${profile.body.profile.id}`)
    const feed = await alpha.post("/v1/feeds", { name: "old-feed" })
    await alpha.post(`/v1/feeds/${feed.body.feed.id}/archive`)
    await open("", async ({ page }) => {
      for (const [path, name] of [
        ["/profiles", "Old profile"],
        ["/feeds", "old-feed"]
      ] as const) {
        await turnTo(page, path)
        await page.getByRole("table").waitFor()
        assert.strictEqual(await page.getByRole("link", { name }).count(), 0)
        await page.getByLabel("archived ones too").check()
        await page.getByRole("row", { name }).getByRole("cell", { name: "archived" }).waitFor()
      }
    })
  })
})

describe("a schedule", () => {
  it("is run by hand, goes by another trigger, and leads to its runs' threads", async () => {
    await open(`/agents/${agentId}`, async ({ page }) => {
      await page.getByRole("link", { name: "daily" }).click()
      await page.getByRole("button", { name: "Run it now" }).click()
      // Another test may have run it, too.
      await page.getByRole("region", { name: "Runs" }).getByText("hand").first().waitFor()
      const yaml = page.getByLabel("Schedule, as YAML")
      await pasteYaml(
        yaml,
        (await yamlOf(yaml)).replace(/trigger:\n(?: .*\n)+/, "trigger:\n  type: interval\n  seconds: 86400\n")
      )
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved.").waitFor()
    })
    const { schedule } = (await alpha.get(`/v1/agents/${agentId}/schedules/${scheduleId}`)).body
    assert.deepInclude(schedule.trigger, { type: "interval", seconds: 86_400 })
    assert.deepStrictEqual(schedule.target, { mode: "spawn" })
  })
})

describe("a subscription", () => {
  it("is tried on a sample, and changed", async () => {
    await open("/subscriptions", async ({ page }) => {
      await page.getByRole("link", { name: "reads news" }).click()
      await page.getByRole("button", { name: "Try the sample" }).click()
      await page.getByRole("region", { name: "What it came to" }).waitFor()
      const yaml = page.getByLabel("Subscription, as YAML")
      await pasteYaml(
        yaml,
        (await yamlOf(yaml)).replace(/cadence:\n(?: .*\n)+/, "cadence:\n  mode: window\n  windowSeconds: 60\n")
      )
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved.").waitFor()
    })
    const { cadence } = (await alpha.get(`/v1/subscriptions/${subscriptionId}`)).body
    assert.deepInclude(cadence, { mode: "window", windowSeconds: 60 })
  })
})

describe("a toolset", () => {
  it("shows its tools with what they take", async () => {
    await open("/toolsets", async ({ page }) => {
      await page.getByRole("link", { name: "shop" }).click()
      await page.getByText("order", { exact: true }).click()
      await page.getByRole("region", { name: "Input of" }).getByText("type: object").waitFor()
    })
  })
})

describe("a hook", () => {
  it("is tried on a sample, and what it came to is shown", async () => {
    await open("/hooks", async ({ page }) => {
      const yaml = page.getByLabel("Hook and sample, as YAML")
      await pasteYaml(yaml, (await yamlOf(yaml)).replace(/processor:\n.*\n.*\n/, "processor:\n    type: client\n"))
      await page.getByRole("button", { name: "Try the hook" }).click()
      await page.getByRole("region", { name: "What it came to" }).getByText("decision: ask").waitFor()
    })
  })
})
