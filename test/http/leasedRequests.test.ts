/** What requests under a lease cost, and leases that are not to be used, or not to be repeated. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "../setup/server.ts"
import { countStatements } from "../setup/statements.ts"
import { eventually } from "../waiting.ts"
import { assertRefused as refused } from "./refusals.ts"
import { ended, logOf, makeThread, text } from "./threadFixture.ts"
import { addRole, call, outcomes, resolveWait, turnOf, waitsOf } from "./toolFixture.ts"
import { type Repeating, statusOf, leaseStand } from "./leaseFixture.ts"

const { beside, holding, letGo, mcp, repeating, server, worker } = await leaseStand()

describe("requests under a lease", () => {
  it("cost the database what requests under a key cost, but for its first use", async () => {
    const { client, threadId } = await holding()
    const times = 40
    const asked = async (by: Client) => {
      const statements = countStatements(/from (heads h|agents a|api_keys k)\b/)
      for (let i = 0; i < times; i++) assert.strictEqual((await by.get(`/v1/threads/${threadId}`)).status, 200)
      statements.stop()
      return statements.count
    }
    const [keys, leases] = [await asked(server.alpha), await asked(client)]
    assert.isAtLeast(keys, times)
    assert.isAtMost(leases, keys * 1.3)
    await letGo(threadId)
  })

  it("that no server key vouches for cost it nothing", async () => {
    const { lease, threadId } = await holding()
    const statements = countStatements(/select h\.parent, h\.carry/)
    for (let i = 0; i < 20; i++)
      await new Client(server.base, lease.token.replace(/.{43}$/, String(i).repeat(43).slice(0, 43))).get("/v1/auth")
    statements.stop()
    assert.strictEqual(statements.count, 0)
    await letGo(threadId)
  })
})

describe("while an identity is disabled", () => {
  const set = async (verb: "disable" | "enable", identity: string) =>
    assert.strictEqual((await server.alpha.post(`/v1/identities/${verb}`, { identity })).status, 200)

  it("leases of its threads and agents are 403, on every node within a beat, and good again afterwards", async () => {
    const { agentId, client, threadId } = await holding({ identity: "ann@example.com" })
    const there = beside.at(client)
    await server.alpha.patch(`/v1/agents/${agentId}`, { identity: "bot@example.com" })
    for (const identity of ["ann@example.com", "bot@example.com"]) {
      await eventually(async () => (await statusOf(client)) === 200 && (await statusOf(there)) === 200, "good")
      await set("disable", identity)
      refused(await client.get("/v1/auth"), 403, "identity_disabled")
      refused(await client.get(`/v1/threads/${threadId}`), 403, "identity_disabled")
      await eventually(async () => (await statusOf(there)) === 403, "refused elsewhere")
      await set("enable", identity)
    }
    await letGo(threadId)
  })

  it("a call that would bring a lease is not sent", async () => {
    const roleIds = [await addRole(server.alpha, { allow: [{ tools: "*", approval: "required" }] })]
    const { agentId, namespace } = await worker({}, { roleIds })
    const threadId = await makeThread(server.alpha, agentId, {
      identity: "carl@example.com",
      message: { content: text(call(`${namespace}.ask`)) }
    })
    const [wait] = await waitsOf(server.alpha, threadId)
    await set("disable", "carl@example.com")
    const before = mcp.calls.length
    await resolveWait(server.alpha, threadId, wait?.id ?? "", { type: "decision", decision: "allow" })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), ["identity_disabled"])
    assert.strictEqual(mcp.calls.length, before)
    await set("enable", "carl@example.com")
  })
})

describe("a lease that its server repeats", () => {
  const token = /trl_[0-9a-z]{8}/
  const saying: ReadonlyArray<readonly [where: string, say: Repeating["says"]]> = [
    ["in a text", (lease) => `here: ${lease}, again: ${lease}`],
    ["in a structure", (lease) => ({ deep: [{ lease }], [lease]: 1 })],
    ["in an error", (lease) => ({ isError: true, content: [{ type: "text", text: lease }] })],
    [
      "in an error of the protocol",
      (lease) => {
        throw new Error(lease)
      }
    ],
    [
      "in its progress",
      async (lease, report) => {
        await report(lease)
        return "done"
      }
    ],
    ["beside its result", (lease) => ({ content: [{ type: "text", text: "x" }], _meta: { note: lease } })]
  ]

  it.each(saying)("%s is taken out", async (_, say) => {
    repeating.says = say
    const { agentId, namespace } = await worker()
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.repeat`))
    assert.lengthOf(
      log.filter(({ type }) => type === "tool_result"),
      1
    )
    assert.notMatch(JSON.stringify(log), token)
  })

  it("in another call than its own is taken out too", async () => {
    let first: string | undefined
    repeating.says = (lease) => {
      first ??= lease
      return first
    }
    const { agentId, namespace } = await worker()
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.repeat`), call(`${namespace}.repeat`))
    assert.deepStrictEqual(outcomes(log), ["[secret]", "[secret]"])
  })
})
