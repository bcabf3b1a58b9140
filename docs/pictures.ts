/**
 * `npm run pictures`: the pictures of docs/images, taken of the console in a real Chromium, light and dark. They show a
 * thread whose agent asked before it acted.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { spawnSync } from "node:child_process"
import type { Browser, Page } from "playwright-core"
import { at, connect, pause, text } from "../bench/adapters/Adapter.ts"
import { openMeter } from "../bench/database.ts"
import { root, startPostgres, startTroupe, type System } from "../bench/systems.ts"
import { launchBrowser } from "../test/setup/chromium.ts"

const folder = join(root, "docs", "images")
const themes = ["light", "dark"] as const

interface Picture {
  readonly name: string
  readonly path: (thread: string) => string
  /** Until that is there. */
  readonly shows: string
}

const pictures: ReadonlyArray<Picture> = [
  { name: "inbox", path: () => "/", shows: "li[data-id]" },
  { name: "thread", path: (thread) => `/threads/${thread}`, shows: "textarea" },
  { name: "chart", path: (thread) => `/threads/${thread}/chart`, shows: ".state.lit" },
  { name: "timeline", path: (thread) => `/threads/${thread}?view=timeline`, shows: ".timeline" },
  { name: "threads", path: () => "/threads", shows: ".rows > li" }
]

const say = (...lines: ReadonlyArray<string>) => ({ content: [{ type: "text", text: lines.join("\n") }] })

/** An agent of a shop that gives money back when a person says so, and a thread in which it asks a second time. */
const furnish = async ({ target }: System) => {
  const http = connect(target)
  const toolset = await http.post("/v1/toolsets", {
    namespace: "shop",
    kind: "client",
    tools: [
      { name: "find_order", description: "Finds an order by its number.", inputSchema: { type: "object" } },
      { name: "refund", description: "Gives money back.", inputSchema: { type: "object" } }
    ]
  })
  const role = await http.post("/v1/roles", {
    name: "support",
    allow: [{ tools: "shop.find_order" }, { tools: "shop.refund", approval: "required" }]
  })
  const profile = await http.post("/v1/profiles", {
    name: "support",
    models: ["troupe/scripted"],
    toolsetIds: [text(toolset, "toolset", "id")],
    roleIds: [text(role, "role", "id")]
  })
  const agent = await http.post("/v1/agents", { name: "Support", profileId: text(profile, "profile", "id") })
  const agentId = text(agent, "agent", "id")
  const waitOf = async (thread: string) => {
    for (;;) {
      const wait = at(await http.get(`/v1/threads/${thread}`), "pendingWaits", "0")
      if (wait !== undefined) return text(wait, "id")
      await pause(20)
    }
  }
  const answer = (thread: string, wait: string, said: object) =>
    http.post(`/v1/threads/${thread}/waits/${wait}/resolve`, said)
  const made = await http.post("/v1/threads", {
    agentId,
    title: "The parcel of order 1042 never came",
    message: say(
      "My parcel never came. The order is 1042.",
      '/call shop.find_order {"number":1042}',
      "/then",
      '/call shop.refund {"number":1042,"amount":39.9}',
      "/then",
      "/say The order was lost on its way. **39.90 EUR** are on their way back to you."
    )
  })
  const thread = text(made, "thread", "id")
  await answer(thread, await waitOf(thread), {
    type: "tool_result",
    output: { number: 1042, state: "lost", amount: 39.9 }
  })
  await waitOf(thread)
  const other = await http.post("/v1/threads", {
    agentId,
    title: "A refund for a broken lamp",
    message: say("The lamp is broken.", '/call shop.refund {"number":977,"amount":18}')
  })
  await waitOf(text(other, "thread", "id"))
  await http.close()
  return thread
}

const take = async (page: Page, { target }: System, thread: string, { name, path, shows }: Picture, theme: string) => {
  await page.goto(`${target.origin}/console${path(thread)}#key=${target.key}`)
  await page.locator(shows).first().waitFor()
  await page.waitForLoadState("load")
  await page.evaluate("document.fonts.ready")
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, `${name}-${theme}.png`) })
}

const takeAll = async (browser: Browser, system: System, thread: string) => {
  for (const theme of themes) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme })
    const page = await context.newPage()
    for (const picture of pictures) {
      await take(page, system, thread, picture, theme)
      console.log(`docs/images/${picture.name}-${theme}.png`)
    }
    await context.close()
  }
}

const built = spawnSync(process.execPath, [join(root, "console", "build.mjs")], { cwd: root, stdio: "inherit" })
if (built.status !== 0) throw new Error("the console could not be built")
mkdirSync(folder, { recursive: true })
const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const browser = await launchBrowser()
try {
  const system = await startTroupe("pictures", await meter.createDatabase("pictures"), { agents: 1 })
  try {
    await takeAll(browser, system, await furnish(system))
  } finally {
    await system.stop()
  }
} finally {
  await browser.close()
  await meter.close()
  await postgres.stop()
}
