/** Whatever a POST creates says where it is, also when the request comes again. */
import { assert, it } from "@effect/vitest"
import { locationOf } from "../../http/location.ts"
import { sharedServer } from "../setup/server.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const tinyPng = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12P4DwABAQEAG7buVgAAAABJRU5ErkJggg=="

const server = await sharedServer()

it("a repeated request has the Location of the first", async () => {
  const { alpha } = server
  const agentId = await makeAgent(alpha)
  const { profileId } = (await alpha.get(`/v1/agents/${agentId}`)).body.agent
  const thread = await makeThread(alpha, agentId)
  await submit(alpha, thread, "/fail model_error on purpose")
  await logOf(alpha, thread, ended(1))
  const feedId = (await alpha.post("/v1/feeds", { name: fresh("news") })).body.feed.id
  const schedule = {
    name: "S",
    trigger: { type: "interval", seconds: 3_600 },
    target: { mode: "spawn" },
    message: { content: text("Hello") }
  }
  const schedules = `/v1/agents/${agentId}/schedules`
  const scheduleId = (await alpha.post(schedules, schedule)).body.schedule.id
  const requests: ReadonlyArray<readonly [string, object]> = [
    ["/v1/feeds", { name: fresh("more") }],
    [`/v1/feeds/${feedId}/messages`, { messages: [{ text: `"id":"inp_00000000000000000000000000"` }] }],
    [schedules, { ...schedule, name: "T" }],
    [`${schedules}/${scheduleId}/run`, {}],
    [`/v1/agents/${agentId}/images`, { format: "png", data: tinyPng }],
    ["/v1/profiles", { name: "P", models: ["troupe/scripted"] }],
    ["/v1/agents", { name: "A", profileId }],
    ["/v1/auth/keys", { name: "K", scopes: ["read"] }],
    ["/v1/threads", { agentId, message: { content: text(`"id":"thr_00000000000000000000000000"`) } }],
    [`/v1/threads/${thread}/retry`, {}],
    [`/v1/threads/${thread}/messages`, { content: text("Hello") }]
  ]
  for (const [path, body] of requests) {
    const key = { "idempotency-key": fresh("one") }
    const [first, again] = [await alpha.post(path, body, key), await alpha.post(path, body, key)]
    assert.deepStrictEqual(
      [first.status, again.status, again.headers.get("idempotency-replayed")],
      [201, 201, "true"],
      first.text
    )
    assert.deepStrictEqual(again.body, first.body)
    const location = first.headers.get("location") ?? ""
    assert.strictEqual(again.headers.get("location"), location)
    assert.strictEqual((await alpha.get(location)).status, 200, location)
  }
})

it("a path that creates nothing has no Location", () => {
  assert.deepStrictEqual(locationOf("/v1/identities/disable", `{"id":"op_00000000000000000000000000"}`), {})
})
