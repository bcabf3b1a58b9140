/** Images that nothing names any more, and when they go. */
import { assert, describe, it } from "@effect/vitest"
import { type RawBuilder, sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { forgetImages } from "../../src/images/leaving.ts"
import { clearDeleted } from "../../src/threads/deleting.ts"
import { png } from "../images.ts"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { image, makeImageTools } from "./imageFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const { upload } = makeImageTools(server)

describe("an image that a deleted thread has named", () => {
  /** The thread is archived, deleted and cleared away. */
  const remove = async (threadId: string) => {
    for (const path of ["cancel", "archive"])
      assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/${path}`)).status, 200)
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}`)).status, 204)
    // The node's own chore may have the thread in hand.
    await eventually(async () => {
      await server.runtime.runPromise(clearDeleted())
      const left = await sqlOf<{ readonly thread: string }>(
        sql`select thread from deleted_threads where thread = ${toUuid(threadId)}`
      )
      return left.length === 0
    }, "its rows are gone")
  }
  const sqlOf = async <A>(query: RawBuilder<A>) =>
    (await server.runtime.runPromise(server.database.run("test.images", (db) => query.execute(db)))).rows
  const forget = (seconds?: number) => server.runtime.runPromise(forgetImages(seconds))
  /** `at` is rounded to a millisecond: a row just written may lie half a one ahead of the database's clock. */
  const forgetNow = () => forget(-1)
  const status = async (id: string) => (await alpha.get(`/v1/images/${id}`)).status
  const showing = async (agentId: string, id: string) => {
    const threadId = await makeThread(alpha, agentId, { message: { content: [image(id)] } })
    await logOf(alpha, threadId, ended(1))
    return threadId
  }
  let width = 200
  /** An image that nobody has sent yet. */
  const another = () => png(++width, 1)
  /** As a thread's deletion leaves it, when no other row names it. */
  const leave = (agentId: string, id: string) =>
    sqlOf(sql`insert into leaving_images (workspace, agent, image)
      values (${toUuid(server.workspaces.alpha)}, ${toUuid(agentId)}, ${Buffer.from(id.slice(4), "hex")})`)

  it("goes an hour after it, with those that only its taken back messages named", async () => {
    const agentId = await makeAgent(alpha)
    const first = another()
    const [sent, removed, unnamed] = [
      await upload(agentId, first),
      await upload(agentId, another()),
      await upload(agentId, another())
    ]
    const threadId = await showing(agentId, sent)
    await alpha.post(`/v1/threads/${threadId}/messages`, { content: text("/wait 60s") })
    const queued = await alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(removed)] })
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}/queue/${queued.body.id}`)).status, 204)
    assert.strictEqual(await status(sent), 200)
    await remove(threadId)
    await forget()
    for (const id of [sent, removed, unnamed]) assert.strictEqual(await status(id), 200)
    await forgetNow()
    assert.deepStrictEqual(await Promise.all([sent, removed, unnamed].map(status)), [404, 404, 200])
    const { images } = (await alpha.get(`/v1/agents/${agentId}/images`)).body
    assert.deepStrictEqual(
      images.map(({ id }: { readonly id: string }) => id),
      [unnamed]
    )
    const other = await alpha.post("/v1/threads", { agentId, message: { content: [image(sent)] } })
    assertRefused(other, 422, "image_not_found")
    assert.strictEqual(await upload(agentId, first), sent)
    assert.strictEqual(await status(sent), 200)
  })

  it("stays as long as something else names it", async () => {
    const agentId = await makeAgent(alpha)
    const id = await upload(agentId, png(84, 1))
    const entry = `/v1/agents/${agentId}/memory/entry?key=picture`
    const schedules = `/v1/agents/${agentId}/schedules`
    const schedule = {
      name: "Show",
      trigger: { type: "cron", expression: "0 9 1 1 *", timezone: "UTC" },
      target: { mode: "spawn" },
      message: { content: [image(id)] }
    }
    const threads = [await showing(agentId, id), await showing(agentId, id), await showing(agentId, id)]
    const busy = await makeThread(alpha, agentId, { message: { content: text("/wait 60s") } })
    const queued = await alpha.post(`/v1/threads/${busy}/messages`, { content: [image(id)] })
    assert.strictEqual(queued.status, 201, queued.text)
    const looked = async () => {
      await forgetNow()
      return status(id)
    }
    const [first = "", second = "", third = ""] = threads
    await remove(first)
    assert.strictEqual(await looked(), 200, "other threads show it")
    await remove(second)
    await remove(third)
    assert.strictEqual(await looked(), 200, "a message that waits names it")
    assert.strictEqual((await alpha.put(entry, { value: `see ${id}` })).status, 201)
    await remove(busy)
    assert.strictEqual(await looked(), 200, "the agent's memory names it")
    const made = await alpha.post(schedules, schedule)
    assert.strictEqual(made.status, 201, made.text)
    assert.strictEqual((await alpha.delete(entry)).status, 200)
    await leave(agentId, id)
    assert.strictEqual(await looked(), 200, "a schedule names it")
    assert.strictEqual((await alpha.delete(`${schedules}/${made.body.schedule.id}`)).status, 204)
    const other = await makeAgent(alpha)
    assert.strictEqual(await upload(other, png(84, 1)), id)
    await leave(agentId, id)
    assert.strictEqual(await looked(), 200, "another agent has it")
    assert.deepStrictEqual((await alpha.get(`/v1/agents/${agentId}/images`)).body.images, [])
    await leave(other, id)
    assert.strictEqual(await looked(), 404, "nobody has it any more")
  })

  it("stays where it is named or uploaded before it goes", async () => {
    const agentId = await makeAgent(alpha)
    const [named, sent] = [await upload(agentId, png(85, 1)), await upload(agentId, png(86, 1))]
    for (const id of [named, sent]) await remove(await showing(agentId, id))
    const again = await showing(agentId, named)
    assert.strictEqual(await upload(agentId, png(86, 1)), sent)
    await forgetNow()
    assert.deepStrictEqual([await status(named), await status(sent)], [200, 200])
    await remove(again)
    await forgetNow()
    assert.deepStrictEqual([await status(named), await status(sent)], [404, 200])
  })

  it("is there for whoever was told so, when it goes at the same moment", async () => {
    const [agentId, other] = [await makeAgent(alpha), await makeAgent(alpha)]
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 600s")
    for (let i = 0; i < 12; i++) {
      const bytes = png(100 + i, 1)
      const id = await upload(agentId, bytes)
      await leave(agentId, id)
      const told =
        i % 3 === 0
          ? upload(other, bytes).then(() => 201)
          : i % 3 === 1
            ? upload(agentId, bytes).then(() => 201)
            : alpha.post(`/v1/threads/${threadId}/messages`, { content: [image(id)] }).then(({ status }) => status)
      const [answer] = await Promise.all([told, forgetNow()])
      assert.strictEqual(await status(id), answer === 201 ? 200 : 404, `${i}: ${answer}`)
    }
  })
})
