/** Actors on their charts: the steps that a log falls into, and where an actor stood after each of them. */
import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { addToolset, call, makeWorker, resolveWait, waitsOf, fresh } from "./toolFixture.ts"

const server = await during(startServer())

interface Step {
  readonly pos: number
  readonly fromPos: number
  readonly cause: string
  readonly from: string
  readonly to: string
  readonly path: ReadonlyArray<string>
  readonly fromSeq?: number
  readonly toSeq?: number
  readonly facts: ReadonlyArray<{ readonly type: string; readonly seq?: number }>
}

const read = async (path: string) => {
  const answer = await server.alpha.get(path)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body
}
const stepsOf = async (actorId: string, query = ""): Promise<ReadonlyArray<Step>> =>
  (await read(`/v1/actors/${actorId}/steps${query}`)).steps
const chartOf = (actorId: string, query = "") => read(`/v1/actors/${actorId}/chart${query}`)
const ways = (steps: ReadonlyArray<Step>) => steps.map(({ cause, from, path }) => [cause, from, ...path])

describe("the steps of a thread", () => {
  it("are what its commands did: causes, states entered, events written", async () => {
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha))
    await submit(server.alpha, threadId, `${call("thread.get", {})}\n/then\n/say done`)
    const log = await logOf(server.alpha, threadId, ended(1))
    const steps = await stepsOf(threadId)
    assert.deepStrictEqual(ways(steps), [
      ["submit", "idle", "running.next", "running.sampling"],
      // No role lets it run: its result comes with it.
      ["model.replied", "running.sampling", "running.acting", "running.next", "running.sampling"],
      ["model.replied", "running.sampling", "idle"]
    ])
    assert.deepStrictEqual(
      steps.flatMap(({ facts }) => facts.flatMap(({ seq, type }) => (seq === undefined ? [] : [{ seq, type }]))),
      log.map(({ seq, type }) => ({ seq, type }))
    )
    assert.deepStrictEqual(
      steps.map(({ fromPos }) => fromPos),
      [1, ...steps.slice(0, -1).map(({ pos }) => pos + 1)]
    )
  })

  it("come a page at a time in both orders, each once, and from behind a position on", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (let i = 1; i <= 4; i++) {
      await submit(server.alpha, threadId, `message ${i}`)
      await logOf(server.alpha, threadId, ended(i))
    }
    const all = await stepsOf(threadId)
    assert.lengthOf(all, 8)
    for (const order of ["asc", "desc"]) {
      const steps: Array<Step> = []
      for (let query = `?limit=3&order=${order}`; ; ) {
        const page = await read(`/v1/actors/${threadId}/steps${query}`)
        steps.push(...page.steps)
        if (page.nextCursor === undefined) break
        query = `?limit=3&cursor=${page.nextCursor}`
      }
      assert.deepStrictEqual(steps, order === "asc" ? all : all.toReversed(), order)
    }
    for (const [i, { fromPos, pos }] of all.entries()) {
      assert.deepStrictEqual(await stepsOf(threadId, `?afterPos=${pos}`), all.slice(i + 1))
      // Within a step it is that step: it ends behind.
      if (fromPos < pos) assert.deepStrictEqual(await stepsOf(threadId, `?afterPos=${fromPos}`), all.slice(i))
    }
    assert.deepStrictEqual(await stepsOf(threadId, "?afterPos=9223372036854775807"), [])
  })

  it("fall into stretches of equal time where an older version has written them", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const [begun, over] = await stepsOf(threadId)
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        sql`update facts set cause = null where actor = ${toUuid(threadId)}::uuid`.execute(db)
      )
    )
    assert(begun !== undefined && over !== undefined)
    assert.deepStrictEqual(await stepsOf(threadId), [
      { ...begun, cause: "unknown" },
      { ...over, cause: "unknown" }
    ])
  })
})

describe("a thread on its chart", () => {
  it("stood after each of its steps where the steps say, by position and by event", async () => {
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha))
    await submit(server.alpha, threadId, `${call("thread.get", {})}\n${call("thread.get", {})}\n/then\n/say done`)
    await logOf(server.alpha, threadId, ended(1))
    await submit(server.alpha, threadId, "/error model_error")
    await logOf(server.alpha, threadId, ended(2))
    assert.deepInclude(await chartOf(threadId, "?pos=0"), { state: "idle", doing: [], context: {} })
    for (const step of await stepsOf(threadId)) {
      for (let pos = step.fromPos; pos <= step.pos; pos++) {
        const seen = await chartOf(threadId, `?pos=${pos}`)
        assert.deepStrictEqual(seen.step, step)
        assert.strictEqual(seen.state, step.to)
        assert.isUndefined(seen.possible)
      }
      for (const { seq } of step.facts)
        if (seq !== undefined) assert.deepStrictEqual((await chartOf(threadId, `?seq=${seq}`)).step, step)
    }
    const now = await chartOf(threadId)
    assert.deepInclude(now, { state: "failed", doing: [], context: { pending: [] } })
    assert.deepInclude(now.actor, { id: threadId, kind: "thread", status: "failed" })
    assert.strictEqual(now.chart.version, (await read("/v1/charts/thread")).chart.version)
    assert.deepStrictEqual(
      now.possible.find(({ event }: { readonly event: string }) => event === "cancel"),
      {
        event: "cancel",
        targets: [],
        refusedBy: "clearsQueue"
      }
    )
  })

  it("says what goes on and since when, which calls it has, and what may come next", async () => {
    const { namespace } = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "ask", inputSchema: { type: "object" } }]
    })
    const toolsetIds = [(await read("/v1/toolsets")).toolsets[0].id]
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha, { toolsetIds }))
    await submit(server.alpha, threadId, `${call(`${namespace}.ask`, { secret: "canary" })}\n/then\n/say done`)
    const [wait] = await waitsOf(server.alpha, threadId)
    const waiting = await submit(server.alpha, threadId, "canary behind it")
    const steering = await submit(server.alpha, threadId, "canary within it", { mode: "steer" })
    const log = await logOf(server.alpha, threadId, (log) => log.some(({ type }) => type === "wait_created"))
    const created = log.find(({ type }) => type === "wait_created")
    const seen = await server.alpha.get(`/v1/actors/${threadId}/chart`)
    assert.notInclude(seen.text, "canary")
    const { actor, context, doing, possible, state } = seen.body
    assert.strictEqual(state, "awaiting.acting")
    assert.isTrue(actor.live)
    assert.isString(actor.node, "alpha's key has the scope admin")
    assert.strictEqual(doing.length, 1)
    assert.deepInclude(doing[0], {
      type: "wait",
      since: created?.occurredAt,
      waitId: wait?.id,
      target: "client",
      toolCallId: created?.toolCallId
    })
    assert.deepInclude(context.turn, { turnId: created?.turnId, step: 1, attempt: 1, modelId: "troupe/scripted" })
    assert.deepStrictEqual(context.turn.calls, [
      { toolCallId: created?.toolCallId, toolName: `${namespace}.ask`, state: "client" }
    ])
    assert.deepStrictEqual(context.turn.steering, [steering.id])
    assert.sameDeepMembers(
      context.pending.map(({ inputId, submitMode }: { readonly inputId: string; readonly submitMode: string }) => [
        inputId,
        submitMode
      ]),
      [
        [waiting.id, "queue"],
        [steering.id, "steer"]
      ]
    )
    const events = new Map(possible.map((each: { readonly event: string }) => [each.event, each]))
    assert.deepInclude(events.get("cancel"), { targets: ["cancelled"] })
    assert.deepInclude(events.get("archive"), { refusedBy: "turn_conflict" })
    await resolveWait(server.alpha, threadId, wait?.id ?? "", { type: "tool_result", output: "canary" })
    await logOf(server.alpha, threadId, ended(2))
    const last = (await stepsOf(threadId)).find(({ cause }) => cause === "answer")
    assert.deepStrictEqual(last?.path, ["running.acting", "running.next", "running.sampling"])
    for (const { pos } of await stepsOf(threadId))
      assert.notInclude((await server.alpha.get(`/v1/actors/${threadId}/chart?pos=${pos}`)).text, "canary")
  })

  it("is refused where what is asked for is no place in its log", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const { pos, lastSeq } = (await chartOf(threadId)).actor
    const get = (query: string) => server.alpha.get(`/v1/actors/${threadId}/${query}`)
    for (const query of [`chart?pos=${pos}`, `chart?seq=${lastSeq}`, "chart?seq=0"])
      assert.strictEqual((await get(query)).status, 200)
    for (const query of [`chart?pos=${pos + 1}`, `chart?seq=${lastSeq + 1}`, "chart?pos=9223372036854775807"])
      assertRefused(await get(query), 404, "not_found")
    assertRefused(await get("chart?pos=1&seq=1"), 400, "invalid_request", "seq_with_pos")
    for (const query of ["chart?pos=-1", "chart?seq=x", "steps?afterPos=-1", "steps?limit=201"])
      assertRefused(await get(query), 400, "invalid_request")
    assertRefused(await get("steps?afterPos=1&order=desc"), 400, "invalid_request", "after_pos_with_desc")
    const { nextCursor } = (await get("steps?limit=1")).body
    assertRefused(await get(`steps?afterPos=1&cursor=${nextCursor}`), 400, "invalid_request", "after_pos_with_cursor")
  })
})

describe("frames of steps", () => {
  const watch = (path: string, client = server.alpha) => Watcher.open(server.base, path, client.token ?? "")
  const isReady = ({ frames }: Watcher) => frames.some(({ event }) => event === "ready")
  const stepsIn = (watcher: Watcher) => watcher.events("step").map(({ data }) => data)
  const framesOf = (actorId: string, steps: ReadonlyArray<Step>) => steps.map((step) => ({ actorId, ...step }))

  it("come on the thread's stream and the workspace's where they are asked for, behind their events, and as the list has them", async () => {
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha))
    await submit(server.alpha, threadId, "before anybody watches")
    await logOf(server.alpha, threadId, ended(1))
    const path = `/v1/threads/${threadId}/events/stream`
    const watchers = await Promise.all([
      watch(`${path}?types=event,step`),
      watch(`${path}?types=step&afterSeq=0`),
      watch(`/v1/events/stream?types=event,step&actorId=${threadId}`),
      watch(path),
      watch(`/v1/events/stream?actorId=${threadId}`),
      watch(`/v1/events/stream?types=step`)
    ])
    for (const watcher of watchers) await watcher.until(isReady)
    const [both, replayed, workspace, ...others] = watchers
    assert(both !== undefined && replayed !== undefined && workspace !== undefined)
    const last = (await stepsOf(threadId)).at(-1)
    await submit(server.alpha, threadId, `${call("thread.get", {})}\n/then\n/say done`)
    await logOf(server.alpha, threadId, ended(2))
    // What this writes no event tells of.
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/archive`)).status, 200)
    const all = await stepsOf(threadId)
    const since = all.filter(({ pos }) => pos > (last?.pos ?? 0))
    assert.isTrue(
      since.some(({ facts }) => facts.every(({ seq }) => seq === undefined)),
      "a step without an event"
    )
    for (const [watcher, steps] of [
      [both, since],
      [replayed, all],
      [workspace, since]
    ] as const) {
      await watcher.until((watcher) => watcher.events("step").length === steps.length)
      assert.deepStrictEqual(stepsIn(watcher), framesOf(threadId, steps))
    }
    for (const { frames } of [both, workspace])
      for (const [i, { data, event }] of frames.entries())
        if (event === "step")
          for (const fact of data.facts as Step["facts"])
            if (fact.seq !== undefined)
              assert.isTrue(frames.slice(0, i).some(({ data, event }) => event === "event" && data.seq === fact.seq))
    await others[0]?.until(({ frames }) => frames.some(({ data }) => data.type === "turn_completed"))
    for (const watcher of others) assert.deepStrictEqual(stepsIn(watcher), [])
    for (const watcher of watchers) watcher.close()
  })

  it("tell of actors that have no events, and of identities those who may manage them", async () => {
    const identity = `${fresh("frames")}@example.com`
    const { body } = await server.alpha.post("/v1/identities/disable", { identity })
    const { actorId } = body.operation.result.body.identity
    const path = `/v1/events/stream?types=step&actorId=${actorId}`
    const watcher = await (await watch(path)).until(isReady)
    const elsewhere = await (await watch(path, server.beta)).until(isReady)
    await server.alpha.post("/v1/identities/enable", { identity })
    await watcher.until(({ frames }) => frames.some(({ event }) => event === "step"))
    assert.deepStrictEqual(stepsIn(watcher), framesOf(actorId, (await stepsOf(actorId)).slice(1)))
    assert.deepStrictEqual(stepsIn(elsewhere), [])
    for (const each of [watcher, elsewhere]) each.close()
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
    assertRefused(await reader.get(path), 403, "permission_denied", "missing_scope")
  })
})

describe("other actors on their charts", () => {
  it("are schedules and subscriptions, each with its own chart", async () => {
    const agentId = await makeAgent(server.alpha)
    const made = async (path: string, body: object) => {
      const answer = await server.alpha.post(path, body)
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.body
    }
    const { schedule } = await made(`/v1/agents/${agentId}/schedules`, {
      name: "S",
      trigger: { type: "interval", seconds: 86_400 },
      target: { mode: "spawn" },
      message: { content: text("canary") }
    })
    await made(`/v1/agents/${agentId}/schedules/${schedule.id}/run`, {})
    await eventually(async () => (await stepsOf(schedule.id)).some(({ cause }) => cause === "started"), "a run")
    assert.deepStrictEqual(ways(await stepsOf(schedule.id)), [
      ["configure", "resting", "settling", "armed"],
      ["run", "armed", "settling", "starting"],
      ["started", "starting", "settling", "armed"]
    ])
    const seen = await chartOf(schedule.id)
    assert.strictEqual(seen.chart.kind, "schedule")
    assert.strictEqual(seen.doing[0].type, "pause")
    assert.strictEqual((await chartOf(schedule.id, "?pos=2")).doing[0].type, "start")
    const feedId = (await made("/v1/feeds", { name: `charts-${randomUUID()}` })).feed.id
    const { id } = await made(`/v1/agents/${agentId}/subscriptions`, { feedId })
    // What is published before the feed knows its reader is told with that, and not by a notice.
    await eventually(async () => (await stepsOf(id)).some(({ cause }) => cause === "listed"), "a reader of the feed")
    await made(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "canary" }] })
    await eventually(async () => (await stepsOf(id)).some(({ cause }) => cause === "submitted"), "a batch")
    const steps = await stepsOf(id)
    assert.deepStrictEqual(ways(steps).slice(-3), [
      ["notice", "waiting", "evaluating"],
      ["evaluated", "evaluating", "escalating"],
      ["submitted", "escalating", "waiting"]
    ])
    const batches = (await chartOf(id)).possible.filter(
      ({ event }: { readonly event: string }) => event === "submitted"
    )
    assert.deepStrictEqual(batches, [{ event: "submitted", targets: [], refusedBy: "staleBatch" }])
    for (const actor of [schedule.id, id])
      for (const { pos } of await stepsOf(actor))
        assert.notInclude((await server.alpha.get(`/v1/actors/${actor}/chart?pos=${pos}`)).text, "canary")
  })

  it("are identities, for whoever may manage them", async () => {
    const identity = `${fresh("steps")}@example.com`
    const { body } = await server.alpha.post("/v1/identities/disable", { identity })
    const { actorId } = body.operation.result.body.identity
    await server.alpha.post("/v1/identities/enable", { identity })
    assert.deepStrictEqual(ways(await stepsOf(actorId)), [
      ["disable", "enabled", "disabled"],
      ["enable", "disabled", "enabled"]
    ])
    const { disabledAt } = body.operation.result.body.identity
    assert.deepInclude((await chartOf(actorId, "?pos=1")).context, { disabledAt })
    assert.deepInclude(await chartOf(actorId), { state: "enabled", context: {} })
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
    for (const what of ["steps", "chart"])
      assertRefused(await reader.get(`/v1/actors/${actorId}/${what}`), 403, "permission_denied", "missing_scope")
    const manager = await server.client(server.workspaces.alpha, { scopes: ["admin"] })
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    assertRefused(await manager.get(`/v1/actors/${threadId}/steps`), 403, "permission_denied", "missing_scope")
  })

  it("are of their workspace alone, and nobody's where there are none", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (const what of ["steps", "chart"]) {
      assertRefused(await server.beta.get(`/v1/actors/${threadId}/${what}`), 404, "not_found")
      for (const id of ["thr_x", "agt_01m7y1svs7e0087pe32vr71000", "thr_01m7y1svs7e0087pe32vr71000", "0"])
        assertRefused(await server.alpha.get(`/v1/actors/${id}/${what}`), 404, "not_found")
    }
  })
})
