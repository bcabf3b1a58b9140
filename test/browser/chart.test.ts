/** Actors on their charts, in a real browser: the picture, the slider, and a turn as it goes on. */
import { assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { definitionOf } from "../../machines/definition.ts"
import { charts } from "../../machines/charts.ts"
import { allow, type Reply, startHookServer } from "../hooks/hookServer.ts"
import { chatCompletions } from "../models/servers/chatCompletions.ts"
import { startServer as startProvider } from "../models/servers/server.ts"
import { during } from "../setup/during.ts"
import { launchBrowser } from "../setup/chromium.ts"
import { buildConsole } from "../setup/console.ts"
import { go, isFitForAll, shoot, visiting } from "../setup/consolePage.ts"
import { startServer } from "../setup/server.ts"
import { ended, logOf, makeThread, submit } from "../http/threadFixture.ts"
import { addToolset, call, makeWorker, resolveWait, waitsOf } from "../http/toolFixture.ts"
import { eventually } from "../waiting.ts"

const provider = await during(startProvider(chatCompletions))
const hooks = await during(startHookServer())
const browser = await during(launchBrowser())
const server = await during(
  startServer({
    served: { console: await buildConsole() },
    models: {
      env: { SOME_KEY: provider.key },
      modelsFile: {
        models: [
          {
            id: "local/busy",
            name: "busy",
            baseUrl: `${provider.url}/v1`,
            apiKeyEnv: "SOME_KEY",
            provider: "openai-compatible"
          }
        ]
      }
    }
  })
)
const { id: toolsetId, namespace } = await addToolset(server.alpha, {
  kind: "client",
  tools: [{ name: "ask", inputSchema: { type: "object" } }]
})
const tool = `${namespace}.ask`
const agentId = await makeWorker(server.alpha, { toolsetIds: [toolsetId] })

const open = visiting(() => ({ browser, base: server.base, token: server.alpha.token }))

const isIn = (page: Page, state: string, kind = "thread") =>
  page.getByRole("img", { name: `The chart of ${kind}: in ${state}`, exact: true }).waitFor()
const slider = (page: Page) => page.getByRole("slider", { name: "Position in the log" })
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

const hookOf = (point: string, reply: Reply) => ({
  name: point,
  point,
  processor: { type: "url", url: hooks.endpoint(reply).url }
})

/** A thread whose turn waits for a client, its call judged by a hook before. */
const judged = async () => {
  const worker = await makeWorker(server.alpha, {
    toolsetIds: [toolsetId],
    hooks: [hookOf("before_turn_start", allow()), hookOf("before_tool_call", allow())]
  })
  const threadId = await makeThread(server.alpha, worker)
  await submit(server.alpha, threadId, `${call(tool, {})}\n/then\n/say done`)
  const [wait] = await waitsOf(server.alpha, threadId)
  return { threadId, waitId: wait?.id ?? "" }
}

const makePast = async () => {
  const { threadId, waitId } = await judged()
  await resolveWait(server.alpha, threadId, waitId, { type: "tool_result", output: 1 })
  await logOf(server.alpha, threadId, ended(1))
  const { steps } = (await server.alpha.get(`/v1/actors/${threadId}/steps`)).body
  assert.isAbove(steps.length, 5)
  return { threadId, steps, end: steps.at(-1).pos }
}
let made: ReturnType<typeof makePast> | undefined
/** The same thread for all that only look at it. */
const past = () => (made ??= makePast())

interface Shown {
  readonly state: string | null
  readonly lit: string | null
  readonly how: string
  readonly facts: ReadonlyArray<string>
  readonly doing: ReadonlyArray<string>
}

/** What the page says of a position, as soon as it has all of it. */
const shownAt = async (page: Page, pos: number): Promise<Shown> => {
  await page.locator(`.slider input[aria-valuetext^="position ${pos} of"]`).waitFor()
  await page.locator(".chart-side[aria-busy=false]").waitFor()
  return await page.evaluate<Shown>(`(() => {
    const texts = (of) => [...document.querySelectorAll(of)].map((each) => each.textContent)
    const picture = document.querySelector(".picture > .drawing")
    return {
      state: texts(".state-name")[0] ?? null,
      lit: picture.querySelector(".state.lit:not(.parts)")?.getAttribute("data-state") ?? null,
      how: texts('[aria-label="How it got there"] p')[0]?.replaceAll(/ at .*?:/g, ":") ?? "",
      facts: texts('[aria-label="How it got there"] li'),
      doing: texts('[aria-label="What goes on"] li strong')
    }
  })()`)
}

/** The same, as the interface tells of it. */
const toldAt = async (threadId: string, pos: number): Promise<Shown> => {
  const { doing, state, step } = (await server.alpha.get(`/v1/actors/${threadId}/chart?pos=${pos}`)).body
  const types: ReadonlyArray<{ readonly type: string }> = doing
  const facts: ReadonlyArray<{ readonly type: string; readonly seq?: number }> = step?.facts ?? []
  return {
    state,
    lit: state,
    how: step === undefined ? "It was born there." : [`${step.cause}: ${step.from}`, ...step.path].join(" → "),
    facts: facts.map(({ seq, type }) => (seq === undefined ? type : `${seq} ${type}`)),
    doing: types.map(({ type }) => type)
  }
}

/** Holds the answers to what a page asks for, until they are let go. */
const hold = async (page: Page, url: RegExp) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked: Array<string> = []
  await page.route(url, async (route) => {
    asked.push(route.request().url())
    await promise
    await route.continue()
  })
  return { asked, letGo: resolve }
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

  it("follows a live turn through a retry, a hook, a wait and an interrupt", async () => {
    const asked: Array<() => void> = []
    const held: Reply = (response, received) => void asked.push(() => allow()(response, received))
    const letPass = async () => {
      await eventually(() => asked.length > 0, "the hook is asked")
      asked.shift()?.()
    }
    const worker = await makeWorker(server.alpha, {
      models: ["local/busy", "troupe/scripted"],
      toolsetIds: [toolsetId],
      hooks: [hookOf("before_turn_start", held), hookOf("before_tool_call", held)]
    })
    provider.enqueue({ kind: "status", status: 429, headers: { "retry-after": "50" } })
    const threadId = await makeThread(server.alpha, worker)
    const scripted = { mode: "interrupt", model: "troupe/scripted" }
    await open(`/threads/${threadId}/chart`, async ({ page, seen }) => {
      await isIn(page, "idle")
      await submit(server.alpha, threadId, "to a busy model")
      await isIn(page, "running.opening")
      await isIn(page, "judging", "the hooks of the turn")
      await letPass()
      await isIn(page, "running.pausing")
      await region(page, "What goes on").getByText("pause since").waitFor()
      await submit(server.alpha, threadId, `${call(tool, {})}\n/then\n/wait 600s\ndone`, scripted)
      await isIn(page, "running.opening")
      await letPass()
      await isIn(page, "running.acting")
      await region(page, "What goes on").getByText("askHook since").waitFor()
      await isIn(page, "judging", `call ${tool}`)
      await isIn(page, "judging", `the hooks of call ${tool}`)
      await letPass()
      await isIn(page, "awaiting.acting")
      await region(page, "What goes on").getByText("wait since").waitFor()
      await isIn(page, "client", `call ${tool}`)
      await shoot(page, "chart")
      const [wait] = await waitsOf(server.alpha, threadId)
      await resolveWait(server.alpha, threadId, wait?.id ?? "", { type: "tool_result", output: 1 })
      await isIn(page, "running.sampling")
      await submit(server.alpha, threadId, "stop that", scripted)
      await isIn(page, "running.opening")
      await letPass()
      await isIn(page, "idle")
      await region(page, "What goes on").getByText("Nothing.").waitFor()
      const streams = seen.asked.filter((url) => url.includes("/events/stream?afterSeq="))
      assert.match(streams.at(-1) ?? "", /types=[a-z,]*\bstep\b/, "it is told of steps that write no event")
    })
  })

  it("is shown at every step of a judged turn as the interface says, by the keys of its slider", async () => {
    const { end, steps, threadId } = await past()
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "idle")
      await slider(page).press("Home")
      assert.deepStrictEqual(await shownAt(page, 0), await toldAt(threadId, 0))
      for (const { pos } of steps.slice(0, -1)) {
        await slider(page).press("ArrowRight")
        assert.deepStrictEqual(await shownAt(page, pos), await toldAt(threadId, pos))
      }
      await page.waitForURL((url) => url.searchParams.get("pos") === String(steps.at(-2).pos))
      for (const { pos } of steps.slice(0, -2).toReversed()) {
        await slider(page).press("ArrowLeft")
        await page.locator(`.slider input[aria-valuetext^="position ${pos} of ${end}"]`).waitFor()
      }
      await slider(page).press("End")
      await page.getByRole("button", { name: "Live" }).and(page.locator("[aria-pressed=true]")).waitFor()
      await page.waitForURL((url) => url.searchParams.get("pos") === null)
    })
  })

  it("shows the step that holds a position, whether its steps have come or not, by one request", async () => {
    const { steps, threadId } = await past()
    const wide = steps.find(({ fromPos, pos }: { fromPos: number; pos: number }) => fromPos < pos)
    const following = steps[steps.indexOf(wide) + 1]
    await open(`/threads/${threadId}`, async ({ page }) => {
      const late = await hold(page, /\/v1\/.*\/steps\?/)
      const asked: Array<string> = []
      page.on("request", (request) => void (/\/v1\/.*\/chart\?/.test(request.url()) && asked.push(request.url())))
      await go(page, `/threads/${threadId}/chart?pos=${wide.fromPos}`)
      const told = await toldAt(threadId, wide.fromPos)
      assert.strictEqual(told.state, wide.to)
      assert.deepStrictEqual(await shownAt(page, wide.fromPos), told)
      assert.lengthOf(asked, 1)
      // The step behind it has not come: the place is its first position.
      await slider(page).press("ArrowRight")
      assert.deepStrictEqual(await shownAt(page, following.fromPos), await toldAt(threadId, following.pos))
      assert.lengthOf(asked, 2)
      await slider(page).press("ArrowLeft")
      assert.deepStrictEqual(await shownAt(page, wide.pos), await toldAt(threadId, wide.pos))
      late.letGo()
      // As soon as they have come, the next place is the end of a step.
      await eventually(async () => {
        await slider(page).press("ArrowRight")
        if ((await slider(page).inputValue()) === String(following.pos)) return true
        await slider(page).press("ArrowLeft")
        return false
      }, "the step behind it is known")
      await shownAt(page, following.pos)
      await go(page, `/threads/${threadId}`)
      await region(page, "Chart").waitFor({ state: "detached" })
      const came = page.waitForResponse(/\/v1\/.*\/steps\?/)
      await go(page, `/threads/${threadId}/chart?pos=${wide.fromPos}`)
      await came
      assert.deepStrictEqual(await shownAt(page, wide.fromPos), told)
      // By an event, as links name it.
      await go(page, `/threads/${threadId}/chart?seq=${wide.fromSeq}`)
      assert.deepStrictEqual(await shownAt(page, wide.pos), told)
    })
  })

  it("shows of a step what is known of it, and nothing that went on at another moment", async () => {
    const { steps, threadId } = await past()
    const [first, second] = steps
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "idle")
      await slider(page).press("Home")
      await shownAt(page, 0)
      const late = await hold(page, /\/v1\/.*\/chart\?/)
      for (const step of [first, second]) {
        await slider(page).press("ArrowRight")
        await isIn(page, step.to)
        await page.getByText("Looking at what went on…").waitFor()
        assert.strictEqual(await region(page, "What goes on").count(), 0)
        assert.strictEqual(await region(page, "What may come next").count(), 0)
      }
      late.letGo()
      assert.deepStrictEqual(await shownAt(page, second.pos), await toldAt(threadId, second.pos))
    })
  })

  it("asks, and writes the address, where a hand on its slider rests, not for what it passes", async () => {
    const { end, steps, threadId } = await past()
    const target = steps.at(-2).pos
    await open(`/threads/${threadId}/chart`, async ({ page, seen }) => {
      await isIn(page, "idle")
      // Its steps are here.
      await slider(page).press("ArrowLeft")
      await shownAt(page, target)
      await slider(page).press("End")
      await page.waitForURL((url) => url.searchParams.get("pos") === null)
      seen.asked.length = 0
      const written = await page.evaluateHandle<Array<string>>(`(() => {
        const written = []
        const replace = history.replaceState.bind(history)
        history.replaceState = (state, unused, url) => {
          if (url !== undefined) written.push(String(url))
          return replace(state, unused, url)
        }
        const input = document.querySelector(".slider input")
        const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set
        for (const to of [...Array(${end}).keys(), ...Array(${end}).keys(), ${target}]) {
          set.call(input, String(to))
          input.dispatchEvent(new Event("input", { bubbles: true }))
        }
        return written
      })()`)
      await shownAt(page, target)
      await page.waitForURL((url) => url.searchParams.get("pos") === String(target))
      assert.lengthOf(await written.jsonValue(), 1)
      assert.isAtMost(seen.asked.filter((url) => /\/v1\/.*\/chart\?/.test(url)).length, 1)
    })
  })

  it("plays each step from its birth on, waits for those that are late, and ends live", async () => {
    const { steps, threadId } = await past()
    await open(`/threads/${threadId}`, async ({ page }) => {
      const late = await hold(page, /\/v1\/.*\/steps\?/)
      await go(page, `/threads/${threadId}/chart?pos=0`)
      await shownAt(page, 0)
      const passed = await page.evaluateHandle<Array<string>>(`(() => {
        const passed = []
        const input = document.querySelector(".slider input")
        new MutationObserver(() => passed.push(input.getAttribute("aria-valuetext").split(/[ ,]/)[1]))
          .observe(input, { attributeFilter: ["aria-valuetext"] })
        return passed
      })()`)
      await page.getByRole("button", { name: "Play ×100" }).click()
      await eventually(() => late.asked.length > 0, "steps are asked for")
      late.letGo()
      await page.getByRole("button", { name: "Live" }).and(page.locator("[aria-pressed=true]")).waitFor()
      assert.includeMembers(
        await passed.jsonValue(),
        steps.slice(0, -1).map(({ pos }: { pos: number }) => String(pos))
      )
    })
  })
})

describe("the chart of any actor", () => {
  it("is an identity's, too", async () => {
    const { body } = await server.alpha.post("/v1/identities/disable", { identity: "seen@example.com" })
    const { actorId } = body.operation.result.body.identity
    await open(`/actors/${actorId}`, async ({ page }) => {
      await isIn(page, "disabled", "identity")
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
    timeout: 240_000
  }, async () => {
    const { threadId } = await judged()
    await open(`/threads/${threadId}/chart`, async ({ page }) => {
      await isIn(page, "awaiting.acting")
      await isFitForAll(page, "chart")
    })
  })
})
