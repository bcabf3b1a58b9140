/** Images that messages name: who may name them, and which models are shown them. */
import { assert, describe, it } from "@effect/vitest"
import { rewrite, startHookServer } from "../hooks/hookServer.ts"
import { gif, png, webp } from "../images.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused, assertRefusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, text } from "./threadFixture.ts"
import { call, makeWorker, only, turnOf } from "./toolFixture.ts"
import { end, image, makeImageTools, send } from "./imageFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const { upload } = makeImageTools(server)

describe("a message", () => {
  it("names images of its agent, in every way that it can be sent", async () => {
    const agentId = await makeAgent(alpha)
    const id = await upload(agentId, png(31, 1))
    const content = [...text("Look."), image(id)]
    const created = await alpha.post("/v1/threads", { agentId, message: { content } })
    assert.strictEqual(created.status, 201, created.text)
    const threadId = created.body.thread.id
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(log[0]?.content, content)
    assert.strictEqual(end(log).type, "turn_completed")
    await alpha.post(`/v1/threads/${threadId}/messages`, { content: text("/wait 20s") })
    const queued = await alpha.post(`/v1/threads/${threadId}/messages`, { content })
    assert.strictEqual(queued.status, 201, queued.text)
    const edit = (imageId: string) =>
      alpha.patch(`/v1/threads/${threadId}/queue/${queued.body.id}`, { content: [...text("No."), image(imageId)] })
    assert.strictEqual((await edit(id)).status, 200)
    const foreign = await upload(await makeAgent(alpha), png(32, 1))
    assertRefusedAt(await edit(foreign), 422, "image_not_found", "content[1].imageId")
    const steer = (imageId: string) =>
      alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(imageId)], mode: "steer" })
    assertRefusedAt(await steer(foreign), 422, "image_not_found", "content[0].imageId")
    assert.strictEqual((await steer(id)).status, 201)
    const other = await alpha.post("/v1/threads", { agentId, message: { content: [image(foreign)] } })
    assertRefusedAt(other, 422, "image_not_found", "message.content[0].imageId")
    const elsewhere = await send(server.beta, await makeAgent(server.beta), png(31, 1), "image/png")
    assertRefusedAt(await steer(elsewhere.body.image.id), 422, "image_not_found", "content[0].imageId")
  })

  it("that a hook rewrites shows no image that it did not name: neither another agent's nor one of its own", async () => {
    const agentId = await makeAgent(alpha)
    const named = await upload(agentId, png(33, 1))
    const unnamed = await upload(agentId, png(34, 1))
    const foreign = await upload(await makeAgent(alpha), png(35, 1))
    const hooks = await startHookServer()
    const shown = async (id: string) => {
      const processor = { type: "url", url: hooks.endpoint(rewrite({ content: [...text("Look."), image(id)] })).url }
      const profile = await alpha.post("/v1/profiles", {
        name: "Hooked",
        models: ["troupe/scripted"],
        hooks: [{ name: "swap", point: "before_turn_start", processor, onError: "deny" }]
      })
      const { profileId } = (await alpha.get(`/v1/agents/${agentId}`)).body.agent
      assert.strictEqual(
        (await alpha.patch(`/v1/agents/${agentId}`, { profileId: profile.body.profile.id })).status,
        200
      )
      const created = await alpha.post("/v1/threads", { agentId, message: { content: [image(named)] } })
      const log = await logOf(alpha, created.body.thread.id, ended(1))
      await alpha.patch(`/v1/agents/${agentId}`, { profileId })
      return [end(log).type, end(log).failureCode]
    }
    try {
      assert.deepStrictEqual(await shown(named), ["turn_completed", undefined])
      assert.deepStrictEqual(await shown(unnamed), ["turn_failed", "hook_failed"])
      assert.deepStrictEqual(await shown(foreign), ["turn_failed", "hook_failed"])
    } finally {
      await hooks.stop()
    }
  })

  it("names at most 20, each once", async () => {
    const agentId = await makeAgent(alpha)
    const threadId = await makeThread(alpha, agentId)
    const ids: Array<string> = []
    for (let i = 1; i <= 21; i++) ids.push(await upload(agentId, png(40 + i, 1)))
    const say = (...names: ReadonlyArray<string>) =>
      alpha.post(`/v1/threads/${threadId}/messages`, { content: names.map(image) })
    assert.strictEqual((await say(...ids.slice(0, 20))).status, 201)
    assertRefused(await say(...ids), 400, "invalid_request")
    assertRefused(await say(ids[0] ?? "", ids[0] ?? ""), 400, "invalid_request")
  })
})

describe("a schedule's message", () => {
  const body = (imageId: string) => ({
    name: "Show",
    trigger: { type: "cron", expression: "0 9 1 1 *", timezone: "UTC" },
    target: { mode: "spawn" },
    message: { content: [...text("Look."), image(imageId)] }
  })
  const at = "message.content[1].imageId"

  it("names images of its agent, and no others", async () => {
    const agentId = await makeAgent(alpha)
    const [own, foreign] = [await upload(agentId, png(51, 1)), await upload(await makeAgent(alpha), png(52, 1))]
    const path = `/v1/agents/${agentId}/schedules`
    assertRefusedAt(await alpha.post(path, body(foreign)), 422, "image_not_found", at)
    const made = await alpha.post(path, body(own))
    assert.strictEqual(made.status, 201, made.text)
    const one = `${path}/${made.body.schedule.id}`
    const { message } = body(foreign)
    assertRefusedAt(await alpha.patch(one, { message }), 422, "image_not_found", at)
    assert.deepStrictEqual((await alpha.get(one)).body.schedule.message, body(own).message)
    assert.strictEqual((await alpha.patch(one, { name: "Shown", message: { content: [image(own)] } })).status, 200)
  })

  it("that the agent itself writes is held to the same", async () => {
    const agentId = await makeWorker(alpha, { families: ["schedules"], familyExposure: "always" })
    const [own, foreign] = [await upload(agentId, png(53, 1)), await upload(await makeAgent(alpha), png(54, 1))]
    const log = await turnOf(
      alpha,
      agentId,
      call("schedules.create", body(foreign)),
      call("schedules.create", body(own))
    )
    const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event]))
    const [refusal, made] = only(log, "tool_intent").map(({ toolCallId }) => results.get(toolCallId))
    assert.match(String(refusal?.failureText), /^image_not_found: message\.content\[1\]\.imageId/)
    assert.strictEqual(made?.failureCode, undefined, JSON.stringify(made))
  })
})

describe("a model", () => {
  it("that does not accept a format fails the turn, and says which", async () => {
    const agentId = await makeAgent(alpha)
    const content = [
      image(await upload(agentId, webp(), "image/webp")),
      image(await upload(agentId, gif(), "image/gif"))
    ]
    const threadId = await makeThread(alpha, agentId, { message: { content } })
    const { failureCode, failureDetails, type } = end(await logOf(alpha, threadId, ended(1)))
    assert.deepStrictEqual(
      [type, failureCode, failureDetails],
      ["turn_failed", "model_image_format_unsupported", { targetId: "troupe/scripted", formats: ["gif", "webp"] }]
    )
  })

  it("that is the last of several says it, after the others were passed over", async () => {
    const agentId = await makeAgent(alpha, ["troupe/scripted", "troupe/scripted-small"])
    const content = [image(await upload(agentId, gif(), "image/gif"))]
    const threadId = await makeThread(alpha, agentId, { message: { content } })
    const { failureDetails } = end(await logOf(alpha, threadId, ended(1)))
    assert.deepStrictEqual(failureDetails, { targetId: "troupe/scripted-small", formats: ["gif"] })
  })
})
