/** What an agent may do under its lease, as its tools may: asked of a real profile and its roles. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type LeaseVerdict, makeLeaseMay } from "../../http/leaseMay.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { absent } from "./refusals.ts"
import { addRole, makeWorker } from "./toolFixture.ts"

const server = await during(startServer())

const ask = (agentId: string | undefined, tool: string, input: unknown = {}): Promise<LeaseVerdict> =>
  server.runtime.runPromise(
    Effect.flatMap(makeLeaseMay, (leaseMay) =>
      leaseMay(
        {
          workspace: server.workspaces.alpha,
          ...(agentId !== undefined && {
            lease: { agentId }
          })
        },
        tool,
        input
      )
    )
  )

const families = ["connections", "agents"]
const worker = async (role: object) =>
  makeWorker(server.alpha, { families, roleIds: [await addRole(server.alpha, role)] })

describe("a lease", () => {
  it("may what a role allows, by the tool's name and the request as its input", async () => {
    const agentId = await worker({
      allow: [{ tools: "connections.*", conditions: [{ path: "/key", op: "startsWith", value: "notes/" }] }],
      deny: [{ tools: "connections.delete", conditions: [{ path: "/key", op: "eq", value: "notes/kept" }] }]
    })
    assert.deepStrictEqual(
      [
        await ask(agentId, "connections.put", { key: "notes/a" }),
        await ask(agentId, "connections.put", { key: "other" }),
        await ask(agentId, "connections.delete", { key: "notes/a" }),
        await ask(agentId, "connections.delete", { key: "notes/kept" }),
        await ask(agentId, "agents.run", { key: "notes/a" })
      ],
      ["allow", "deny", "allow", "deny", "deny"]
    )
  })

  it("waits for a person where a grant wants their word", async () => {
    const agentId = await worker({ allow: [{ tools: "agents.run", approval: "required" }, { tools: "connections.*" }] })
    assert.deepStrictEqual([await ask(agentId, "agents.run"), await ask(agentId, "connections.put")], ["park", "allow"])
  })

  it("reads under the role read_only, and writes nothing", async () => {
    const readOnly = (await server.alpha.get("/v1/roles")).body.roles.find(
      ({ name }: { name: string }) => name === "read_only"
    ).id
    const agentId = await makeWorker(server.alpha, { families, roleIds: [readOnly] })
    for (const [tool, verdict] of [
      ["connections.get", "allow"],
      ["connections.list", "allow"],
      ["connections.search", "allow"],
      ["connections.put", "deny"],
      ["connections.delete", "deny"],
      ["agents.run", "deny"]
    ] as const)
      assert.strictEqual(await ask(agentId, tool), verdict, tool)
  })

  it("may nothing of a family that the profile does not name, whatever the roles allow", async () => {
    const agentId = await worker({ allow: [{ tools: "*" }] })
    assert.deepStrictEqual(
      [await ask(agentId, "thread.rename"), await ask(agentId, "connections.put")],
      ["deny", "allow"]
    )
    assert.strictEqual(await ask(await makeWorker(server.alpha), "connections.put"), "deny")
  })

  it("is asked of the profile and the roles as they are now", async () => {
    const agentId = await worker({ allow: [{ tools: "*" }] })
    assert.strictEqual(await ask(agentId, "connections.put"), "allow")
    const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
    const [roleId] = (await server.alpha.get(`/v1/profiles/${profileId}`)).body.profile.roleIds
    await server.alpha.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "connections.put" }] })
    assert.strictEqual(await ask(agentId, "connections.put"), "deny")
    await server.alpha.patch(`/v1/profiles/${profileId}`, { families: ["agents"] })
    await eventually(async () => (await ask(agentId, "connections.get")) === "deny", "the family is gone")
  })

  it("of an agent that was archived, or never was, may nothing", async () => {
    const agentId = await worker({ allow: [{ tools: "*" }] })
    await server.alpha.delete(`/v1/agents/${agentId}`)
    assert.deepStrictEqual(
      [await ask(agentId, "connections.get"), await ask(absent("agt_"), "connections.get")],
      ["deny", "deny"]
    )
  })
})

it("any other credential is allowed: its scopes have decided", async () => {
  assert.strictEqual(await ask(undefined, "connections.put"), "allow")
})
