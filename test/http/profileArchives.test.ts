/** Profiles that are archived. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { assertRefused, assertRefusedAt } from "./refusals.ts"
import { fresh } from "./toolFixture.ts"
import { makeGet } from "./edgeFixture.ts"

const server = await sharedServer()
const { get } = makeGet(server)

// contract C11.8
describe("DELETE /v1/profiles/{profileId} archives", () => {
  const create = async () =>
    (await server.alpha.post("/v1/profiles", { name: fresh("P"), models: ["troupe/scripted"] })).body.profile
  const listed = async (query = "") =>
    ((await get(`/v1/profiles?limit=200${query}`)).body.profiles as ReadonlyArray<{ readonly id: string }>).map(
      ({ id }) => id
    )

  it("it stays readable, in all its versions, and leaves the list unless includeArchived=true", async () => {
    const { id } = await create()
    await server.alpha.patch(`/v1/profiles/${id}`, { description: "d" })
    const archived = await server.alpha.delete(`/v1/profiles/${id}`)
    assert.deepStrictEqual([archived.status, archived.text], [204, ""])
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`)).status, 204)
    const { profile } = (await get(`/v1/profiles/${id}`)).body
    assert.match(profile.archivedAt, /^\d{4}-.*Z$/)
    assert.strictEqual(profile.version, 2)
    assert.lengthOf((await get(`/v1/profiles/${id}/versions`)).body.versions, 2)
    assert.strictEqual((await get(`/v1/profiles/${id}/versions/1`)).body.profile.version, 1)
    assert.notInclude(await listed(), id)
    assert.notInclude(await listed("&includeArchived=false"), id)
    assert.include(await listed("&includeArchived=true"), id)
  })

  it("409 profile_in_use while an agent that is not archived follows it", async () => {
    const { id } = await create()
    const { agent } = (await server.alpha.post("/v1/agents", { name: "A", profileId: id })).body
    assertRefused(await server.alpha.delete(`/v1/profiles/${id}`), 409, "profile_in_use")
    await server.alpha.delete(`/v1/agents/${agent.id}`)
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`)).status, 204)
  })

  it("a body that names an archived one is 409 profile_archived, and it cannot be changed", async () => {
    const [{ id }, other] = [await create(), await create()]
    const { agent } = (await server.alpha.post("/v1/agents", { name: "A", profileId: other.id })).body
    await server.alpha.delete(`/v1/profiles/${id}`)
    assertRefusedAt(
      await server.alpha.post("/v1/agents", { name: "A", profileId: id }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefusedAt(
      await server.alpha.post("/v1/agents", { name: "A", profileId: id, profileVersion: 1 }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefusedAt(
      await server.alpha.patch(`/v1/agents/${agent.id}`, { profileId: id }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefusedAt(
      await server.alpha.post("/v1/roles/evaluate", { profileId: id, tool: "a.b", input: {} }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefused(await server.alpha.patch(`/v1/profiles/${id}`, { name: "N" }), 409, "profile_archived")
    assert.strictEqual((await server.alpha.patch(`/v1/agents/${agent.id}`, { name: "B" })).status, 200)
  })

  it("keeps to If-Match and to the workspace", async () => {
    const { id } = await create()
    assertRefused(await server.alpha.delete(`/v1/profiles/${id}`, { "if-match": `"2"` }), 412, "precondition_failed")
    assertRefused(await server.beta.delete(`/v1/profiles/${id}`), 404, "not_found")
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`, { "if-match": `"1"` })).status, 204)
  })

  it("of an archive and an agent at the same moment only one succeeds", async () => {
    for (let times = 0; times < 5; times++) {
      const { id } = await create()
      const [archived, made] = await Promise.all([
        server.alpha.delete(`/v1/profiles/${id}`),
        server.alpha.post("/v1/agents", { name: "A", profileId: id })
      ])
      assert.include(
        [
          [204, 409],
          [409, 201]
        ].map(String),
        String([archived.status, made.status])
      )
    }
  })

  it("it keeps no role or toolset from being deleted any more", async () => {
    const { role } = (await server.alpha.post("/v1/roles", { name: fresh("R") })).body
    const { profile } = (
      await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], roleIds: [role.id] })
    ).body
    assertRefused(await server.alpha.delete(`/v1/roles/${role.id}`), 409, "role_in_use")
    await server.alpha.delete(`/v1/profiles/${profile.id}`)
    assert.strictEqual((await server.alpha.delete(`/v1/roles/${role.id}`)).status, 204)
  })
})
