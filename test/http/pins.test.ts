/** Threads that are pinned to a version of a profile: who may pin, and what the pin means later. */
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, submit, text } from "./threadFixture.ts"
import { addToolset, begin, call, outcomes, waitsOf } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 50 }))
const writer = server.alpha
const runner = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })

/**
 * A profile whose first version lets an agent use all tools, and whose second one lets it use none. A call of its tool
 * waits for a client.
 */
const restricted = async () => {
  const { id, namespace } = await addToolset(writer, {
    kind: "client",
    tools: [{ name: "sign", inputSchema: { type: "object" } }]
  })
  const made = await writer.post("/v1/profiles", { name: "Restricted", models: ["troupe/scripted"], toolsetIds: [id] })
  assert.strictEqual(made.status, 201, made.text)
  const profileId: string = made.body.profile.id
  const changed = await writer.patch(`/v1/profiles/${profileId}`, { roleIds: [] })
  assert.strictEqual(changed.body.profile?.version, 2, changed.text)
  const agent = await writer.post("/v1/agents", { name: "Restricted", profileId })
  assert.strictEqual(agent.status, 201, agent.text)
  return { agentId: agent.body.agent.id as string, profileId, sign: call(`${namespace}.sign`) }
}

describe("a pin", () => {
  it("takes the scope write: a version of before would lift what was added since", async () => {
    const { agentId, sign } = await restricted()
    for (const profileVersion of [1, 2]) {
      const refused = await runner.post("/v1/threads", { agentId, profileVersion, message: { content: text(sign) } })
      assertRefused(refused, 403, "permission_denied", "missing_scope")
      assert.match(refused.body.message, /^profileVersion: /)
    }
    const threadId = await begin(runner, agentId, sign)
    assert.deepStrictEqual(outcomes(await logOf(runner, threadId, ended(1))), ["tool_denied"])
  })

  it("of somebody who may write runs the version that it names, with its roles", async () => {
    const { agentId, profileId, sign } = await restricted()
    const made = await writer.post("/v1/threads", { agentId, profileVersion: 1 })
    assert.deepInclude(made.body.thread, { profileId, profileVersion: 1 }, made.text)
    await submit(writer, made.body.thread.id, sign)
    assert.lengthOf(await waitsOf(writer, made.body.thread.id), 1)
  })

  it("is to a profile, whatever its agent follows later", async () => {
    const { agentId, profileId } = await restricted()
    const made = await writer.post("/v1/threads", { agentId, profileVersion: 1 })
    const threadId: string = made.body.thread.id
    const other = await restricted()
    // The other profile has a version 1 as well: of other models.
    const elsewhere = await writer.post("/v1/profiles", { name: "Elsewhere", models: ["troupe/scripted-paid"] })
    for (const next of [other.profileId, elsewhere.body.profile.id]) {
      assert.strictEqual((await writer.patch(`/v1/agents/${agentId}`, { profileId: next })).status, 200)
    }
    await submit(writer, threadId, "hello")
    await logOf(writer, threadId, ended(1))
    const detail = await writer.get(`/v1/threads/${threadId}`)
    assert.strictEqual(detail.body.model, "troupe/scripted")
    assert.deepInclude(detail.body.thread, { profileId, profileVersion: 1 })
  })

  it("of an earlier version, which knew the version only, is to the profile that the agent has now", async () => {
    const { agentId, sign } = await restricted()
    const made = await writer.post("/v1/threads", { agentId, profileVersion: 1 })
    const threadId: string = made.body.thread.id
    await server.runtime.runPromise(
      server.database.run("test.older", async (db) => {
        const { attributes } = await db
          .selectFrom("heads")
          .select("attributes")
          .where("id", "=", toUuid(threadId))
          .executeTakeFirstOrThrow()
        const older = attributes.replace(/"profileId":"prof_\w+",?/, "")
        assert.notStrictEqual(older, attributes)
        await db.updateTable("heads").set({ attributes: older }).where("id", "=", toUuid(threadId)).execute()
      })
    )
    const found = await writer.get(`/v1/threads/${threadId}`)
    assert.deepInclude(found.body.thread, { profileVersion: 1 })
    assert.notProperty(found.body.thread, "profileId")
    await submit(writer, threadId, sign)
    assert.lengthOf(await waitsOf(writer, threadId), 1)
  })
})
