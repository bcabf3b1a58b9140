/** The console's pages for what a workspace has configured, in a real browser; and all of them, for everybody. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import { startHookServer } from "../hooks/hookServer.ts"
import { fresh } from "../http/toolFixture.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole, sharedConsole } from "../setup/console.ts"
import { isFitForAll, pasteYaml, turnTo, visiting, yamlOf } from "../setup/consolePage.ts"
import { Client } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { configure } from "./configured.ts"

const server = await sharedConsole()
const browser = await during(launchBrowser())
const hooks = await during(startHookServer())
/** Each test's own, in a workspace of its own: it may be run again. */
let alpha: Client
let agentId: string
let feedId: string
let profileId: string
let roleId: string
let scheduleId: string
let subscriptionId: string
let toolsetId: string
let webhookId: string
beforeEach(async () => {
  alpha = await server.client(await server.workspace(fresh("setup")))
  ;({ agentId, feedId, profileId, roleId, scheduleId, subscriptionId, toolsetId, webhookId } = await configure(
    alpha,
    hooks.url
  ))
})

const open = visiting(() => ({ browser, base: server.base, token: alpha.token }))

describe("the box for ids", () => {
  it("leads to the page of whatever an id names", async () => {
    const { operations } = (await alpha.get("/v1/operations")).body
    const { identities } = (await alpha.get("/v1/identities")).body
    const { connections } = (await alpha.get("/v1/connections")).body
    const places: ReadonlyArray<readonly [id: string, path: string]> = [
      [agentId, "/agents/"],
      [profileId, "/profiles/"],
      [roleId, "/roles/"],
      [toolsetId, "/toolsets/"],
      [connections[0].id, "/connections/"],
      [feedId, "/feeds/"],
      [subscriptionId, "/subscriptions/"],
      [webhookId, "/webhooks/"],
      [scheduleId, "/actors/"],
      [identities.find((each: { actorId?: string }) => each.actorId !== undefined).actorId, "/actors/"],
      ...operations.map(({ id }: { id: string }) => [id, "/operations/"])
    ]
    await open("", async ({ page }) => {
      const box = page.getByLabel("Go to a thread by its id")
      for (const [id, path] of places) {
        await box.fill(id)
        await box.press("Enter")
        await page.waitForURL(`**/console${path}${id}*`)
        assert.strictEqual(await page.getByRole("alert").count(), 0, id)
      }
      await box.fill("trn_1")
      await box.press("Enter")
      await page.getByRole("alert").getByText("thr_ agt_").waitFor()
    })
  })
})

describe("a connection", () => {
  it("shows the end of its secret and nothing else of it", async () => {
    await open("/connections", async ({ page }) => {
      await page.getByRole("cell", { name: "1234", exact: true }).waitFor()
      assert.notInclude(await page.content(), "never-to-be-seen")
    })
  })

  it("is made, changed, and gets another secret", async () => {
    const token = "never-shown-again-5678"
    await open("/connections", async ({ page }) => {
      await page.getByText("New connection").click()
      await page.getByLabel("Provider").fill("example")
      await page.getByLabel("Name").fill("Made here")
      await page.getByLabel("Kind").selectOption("token")
      await page.getByLabel("Secret", { exact: true }).fill("the-first-of-two-1111")
      await page.getByLabel("Address of the server").fill("https://api.example.com")
      await page.getByRole("button", { name: "Create" }).click()
      await page.getByRole("link", { name: "Made here" }).click()
      await page.getByText("1111").waitFor()
      await page.getByLabel("Another token").fill(token)
      await page.getByRole("button", { name: "Replace the secret" }).click()
      await page.getByText("5678").waitFor()
      const yaml = page.getByLabel("Connection, as YAML")
      await pasteYaml(yaml, (await yamlOf(yaml)).replace("name: Made here", "name: Changed here"))
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("heading", { name: "Changed here" }).waitFor()
      await isFitForAll(page, "connection")
    })
    const { connections } = (await alpha.get("/v1/connections")).body
    assert.deepInclude(connections[0], { name: "Changed here", kind: "token", last4: "5678" })
  })
})

describe("an identity", () => {
  it("is disabled by two presses, and enabled again", async () => {
    const isDisabled = async () => {
      const { identities } = (await alpha.get("/v1/identities")).body
      return identities.find((each: { identity: string }) => each.identity === "ada").disabled
    }
    await open("/identities", async ({ page }) => {
      await page.getByRole("button", { name: "Disable ada" }).click()
      await page.getByRole("button", { name: "Refuse its new work" }).click()
      const enable = page.getByRole("button", { name: "Enable ada" })
      await enable.waitFor()
      assert.isTrue(await isDisabled())
      await enable.click()
      await page.getByRole("button", { name: "Disable ada" }).waitFor()
      assert.isFalse(await isDisabled())
    })
  })
})

describe("a key", () => {
  it("is made, and its token shown once; it is revoked", async () => {
    await open("/keys", async ({ page }) => {
      await page.getByText("New key").click()
      await page.getByLabel("Name").fill("robot")
      await page.getByLabel("run").check()
      await page.getByRole("button", { name: "Create" }).click()
      const shown = page.getByRole("region", { name: "The new token" })
      const token = await shown.getByText(/^trp_/).innerText()
      const context = await new Client(server.base, token).get("/v1/auth")
      assert.deepStrictEqual(context.body.scopes, ["read", "run"])
      await shown.getByRole("button", { name: "I have it" }).click()
      assert.notInclude(await page.content(), token)
      await page.getByRole("button", { name: "Revoke robot" }).click()
      await page.getByRole("button", { name: "Revoke it for good" }).click()
      await page.getByRole("cell", { name: "robot", exact: true }).waitFor({ state: "detached" })
    })
  })
})

describe("operations", () => {
  it("are listed in every state, with what was asked", async () => {
    await alpha.put("/v1/approval-policy", {
      rules: [{ actions: ["agent.create"], principals: ["api_key"], require: true }]
    })
    await alpha.post("/v1/agents", { name: "Parked", profileId })
    await alpha.put("/v1/approval-policy", { rules: [] })
    await open("/operations", async ({ page }) => {
      await page.getByLabel("State").selectOption("pending")
      await page.getByRole("cell", { name: "agent.create" }).waitFor()
      await page.getByText("request", { exact: true }).click()
      await page.getByText('"name": "Parked"').waitFor()
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("button", { name: "Withdraw the request" }).click()
      await page.getByText("There is no such operation.").waitFor()
      await page.getByLabel("State").selectOption("cancelled")
      await page.getByRole("cell", { name: "agent.create" }).waitFor()
    })
  })
})

describe("a feed", () => {
  it("is read from its newest message back, and takes another one", async () => {
    await open("/feeds", async ({ page }) => {
      await page.getByRole("link", { name: "news" }).click()
      await page.getByText("message 60.").waitFor()
      assert.strictEqual(await page.getByText("message 10.").count(), 0)
      await page.getByRole("button", { name: "Older" }).click()
      await page.getByText("message 10.").waitFor()
      assert.isTrue(await page.getByRole("button", { name: "Older" }).isDisabled())
      await page.getByRole("button", { name: "Newest" }).click()
      await page.getByLabel("Message").fill("one more")
      await page.getByLabel("Tags").fill("a, b")
      await page.getByRole("button", { name: "Append" }).click()
      await page.getByText("#61").last().waitFor()
      await page.getByRole("listitem").getByText("one more").waitFor()
    })
    const { messages } = (await alpha.get(`/v1/feeds/${feedId}/messages?tailOffset=1`)).body
    assert.deepInclude(messages[0], { text: "one more", tags: ["a", "b"] })
  })
})

describe("usage", () => {
  it("is summed by day, by agent and by model", async () => {
    // Nodes write what they have counted every second.
    await eventually(async () => (await alpha.get("/v1/usage")).body.usage.length > 0, "something is counted")
    await open("/usage", async ({ page }) => {
      const usage = page.getByRole("region", { name: "Usage" })
      await usage.getByRole("cell", { name: new Date().toISOString().slice(0, 10) }).waitFor()
      await page.getByLabel("By", { exact: true }).selectOption("agent")
      await usage.getByRole("link", { name: "Tester" }).waitFor()
      await page.getByLabel("By", { exact: true }).selectOption("model")
      await usage.getByRole("cell", { name: "troupe/scripted" }).waitFor()
    })
  })

  it("of one agent stands against its budget, however many agents there are", async () => {
    const payer = await makeAgent(alpha, ["troupe/scripted-paid"], {
      name: "Payer",
      budget: { limit: 10, window: "7d" }
    })
    await makeAgent(alpha, ["troupe/scripted"], { name: "Newest" })
    await submit(alpha, await makeThread(alpha, payer), "/usage 1000000 0\n/say paid")
    // What is spent is booked with the call; nodes write what they have counted every second.
    await eventually(async () => {
      const { budget, usage } = (await alpha.get(`/v1/usage?agentId=${payer}`)).body
      return budget.spent > 0 && usage.length > 0
    }, "it is booked and counted")
    await open("/limits", async ({ page }) => {
      // A page of one: the agent is on the second.
      await page.route("**/v1/agents?*", (route) =>
        route.continue({ url: route.request().url().replace("limit=200", "limit=1") })
      )
      await turnTo(page, "/usage")
      const choice = page.getByLabel("Agent", { exact: true })
      await choice.getByRole("option", { name: "Newest" }).waitFor({ state: "attached" })
      assert.strictEqual(await choice.getByRole("option", { name: "Payer" }).count(), 0)
      await page.getByRole("button", { name: "More agents" }).click()
      await choice.selectOption({ label: "Payer" })
      const budget = page.getByRole("region", { name: "Budget" })
      await budget.getByText("$1.0000 of its budget of $10 of the last 7 days is spent").waitFor()
      await page.getByRole("region", { name: "Usage" }).getByText("1,000,000").waitFor()
    })
  })
})

describe("the approval policy", () => {
  it("is changed as a whole, and refused where the server does not know an action", async () => {
    await open("/policy", async ({ page, seen }) => {
      const yaml = page.getByLabel("Policy, as YAML")
      const rule = (action: string) => `rules:\n  - actions: [${action}]\n    principals: [agent]\n    require: true\n`
      await pasteYaml(yaml, rule("agent.sing"))
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("alert").getByText("Line 2: rules[0].actions[0]").waitFor()
      assert.deepStrictEqual(await yaml.locator(".wrong").allTextContents(), ["  - actions: [agent.sing]"])
      seen.complaints.splice(0)
      await pasteYaml(yaml, rule("agent.create"))
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved.").waitFor()
    })
    const { policy } = (await alpha.get("/v1/approval-policy")).body
    assert.deepStrictEqual(policy.rules, [{ actions: ["agent.create"], principals: ["agent"], require: true }])
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

describe("a webhook", () => {
  it("is made with a secret that is shown once, sends a test, and lists its delivery", async () => {
    await open("/webhooks", async ({ page }) => {
      await page.getByText("New webhook").click()
      const yaml = page.getByLabel("Webhook, as YAML")
      await pasteYaml(yaml, `url: ${hooks.url}/new\nevents:\n  - webhook.test\n`)
      await page.getByRole("button", { name: "Create" }).click()
      const secret = page.getByRole("region", { name: "The new secret" })
      await secret.getByText("whsec_").waitFor()
      hooks.trusts(await secret.locator("code").innerText())
      await page.getByRole("button", { name: "I have it" }).click()
      await secret.waitFor({ state: "detached" })
      await page.getByRole("link", { name: `${hooks.url}/new` }).click()
      await page.getByRole("button", { name: "Send a test" }).click()
      await page.getByRole("cell", { name: "delivered" }).waitFor()
      await page.getByRole("button", { name: "Send webhook.test again" }).click()
      await page.getByLabel("Which").selectOption("failed")
      await page.getByText("There is none within the days that are kept.").waitFor()
    })
    assert.isAbove(hooks.received.length, 0)
    for (const { path, signedBy } of hooks.received) assert.deepStrictEqual([path, signedBy.length], ["/hook/new", 1])
  })
})

describe("every page of the setup", () => {
  it("has no violation of WCAG 2.2 AA and nothing wider than the window, in both themes, on phones too", {
    timeout: 500_000
  }, async () => {
    await open("", async ({ page }) => {
      for (const [path, ready] of [
        ["/agents", "table"],
        [`/agents/${agentId}`, "textbox"],
        [`/agents/${agentId}/schedules/${scheduleId}`, "textbox"],
        ["/profiles", "table"],
        [`/profiles/${profileId}`, "table"],
        ["/roles", "table"],
        [`/roles/${roleId}`, "textbox"],
        ["/toolsets", "table"],
        [`/toolsets/${toolsetId}`, "textbox"],
        ["/hooks", "textbox"],
        ["/connections", "table"],
        ["/identities", "table"],
        ["/keys", "table"],
        ["/operations", "table"],
        ["/models", "table"],
        ["/nodes", "table"],
        ["/charts", "table"],
        ["/feeds", "table"],
        [`/feeds/${feedId}`, "listitem"],
        ["/subscriptions", "table"],
        [`/subscriptions/${subscriptionId}`, "textbox"],
        ["/usage", "combobox"],
        ["/limits", "table"],
        ["/policy", "textbox"],
        ["/memory", "textbox"],
        ["/webhooks", "table"],
        [`/webhooks/${webhookId}`, "textbox"]
      ] as const) {
        await turnTo(page, path)
        await page.locator("main").getByRole(ready).first().waitFor()
        await isFitForAll(page, path.split("/")[1] ?? path)
      }
    })
  })
})

describe("the console's files", async () => {
  const folder = await buildConsole()
  const sent = (names: ReadonlyArray<string>) =>
    names.reduce((sum, name) => sum + statSync(join(folder, `${name}.br`)).size, 0)

  it("are less than 200 kB for the first page, and less than 700 kB in all, as they are sent", () => {
    const html = readFileSync(join(folder, "index.html"), "utf8")
    const first = [...html.matchAll(/\/console\/(assets\/[^"]+\.(?:js|css))/g)].map(([, name = ""]) => name)
    assert.isAbove(first.length, 1)
    assert.isBelow(sent(first), 200_000)
    const all = readdirSync(join(folder, "assets"))
      .filter((name) => !/\.(?:br|gz)$/.test(name))
      .map((name) => `assets/${name}`)
    assert.includeMembers(all, first)
    assert.isAbove(all.length, first.length)
    assert.isBelow(sent(all), 700_000)
  })
})
