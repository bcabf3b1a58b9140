/**
 * Which credential may do what: every operation of the document, with a key of each scope alone, with none, and with
 * those that are no keys; then cell by cell, each kind of credential with each scope that it may have.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { CredentialKind } from "../../http/access.ts"
import { DeliveryTokens } from "../../src/hooks/deliveryToken.ts"
import { AgentLeases } from "../../src/keys/AgentLeases.ts"
import { type Scope, triggerScopes } from "../../src/keys/apiKey.ts"
import { scopes } from "../../src/keys/scopes.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { type Operation, operations, schemas, titleOf } from "./document.ts"
import { absent, furnish, type Ids, pathWith } from "./everything.ts"
import { fitting } from "./fitting.ts"

const holders = new Map<Scope, Client>()

/** A good credential of a kind; `scope` is the one that it has, where its kind has any. */
interface Cell {
  readonly kind: CredentialKind
  readonly scope?: Scope
  readonly token: string
}
const cells: Array<Cell> = []

const fill = async (ids: Ids) => {
  const { agentId = "", threadId = "" } = ids
  const workspace = server.workspaces.alpha
  const issue = async (kind: CredentialKind, scope: Scope, more: object = {}) => {
    const made = await server.alpha.post("/v1/auth/keys", { name: "K", kind, scopes: [scope], ...more })
    assert.strictEqual(made.status, 201, made.text)
    cells.push({ kind, scope, token: made.body.token })
  }
  for (const scope of scopes) {
    await issue("api_key", scope)
    await issue("user", scope)
    if (triggerScopes.includes(scope)) await issue("trigger", scope, { provider: "slack", agentIds: [agentId] })
  }
  const [{ turnId }] = (await server.alpha.get(`/v1/threads/${threadId}`)).body.pendingWaits
  const lease = await server.runtime.runPromise(
    AgentLeases.useSync((leases) => leases.give({ workspace, agentId, threadId, turnId, hops: 0 }))
  )
  const delivered = { workspace, threadId, deliveryId: nobodys.deliveryId ?? "" }
  const delivery = await server.runtime.runPromise(DeliveryTokens.useSync((tokens) => tokens.of(delivered)))
  cells.push({ kind: "lease", token: lease.token }, { kind: "delivery", token: delivery })
}

const server = await sharedServer()
// What is asked for is not there: with the right scope as without it, nothing happens to it.
const furnished = await furnish(server.alpha)
const nobodys = Object.fromEntries(Object.entries(furnished).map(([name, id]) => [name, absent(id)]))
await fill(furnished)
for (const scope of scopes) holders.set(scope, await server.client(server.workspaces.alpha, { scopes: [scope] }))

/** Status and words of the answer. A stream goes on for ever: its head is the answer. */
const ask = async ({ method, path }: Operation, token: string | undefined, body: unknown) => {
  const stop = new AbortController()
  try {
    const response = await fetch(server.base + pathWith(path, nobodys), {
      method,
      signal: stop.signal,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" })
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
      return { status: response.status, words: [] }
    const text = await response.text()
    const said = text === "" ? {} : JSON.parse(text)
    return { status: response.status, words: [said.error, said.code] }
  } finally {
    stop.abort()
  }
}

/** The example, and others that fit: where an operation takes one scope or another, its body says which. */
const bodiesOf = ({ body, example, scopes }: Operation): ReadonlyArray<unknown> =>
  body !== undefined && scopes.length > 1
    ? [
        example,
        ...fc.sample(
          fitting(body, schemas, () => undefined),
          { numRuns: 20, seed: 1 }
        )
      ]
    : [example]

const all = operations.map((operation) => [titleOf(operation), operation] as const)

describe("every operation", () => {
  it("names its scopes", () => {
    for (const operation of operations) assert.isNotEmpty(operation.scopes, titleOf(operation))
  })

  it.each(all)("%s takes a key with a scope that it names, and no other", async (_, operation) => {
    for (const scope of scopes) {
      const answers = []
      for (const body of bodiesOf(operation)) answers.push(await ask(operation, holders.get(scope)?.token, body))
      const refused = answers.filter(({ status, words }) => status === 403 && words.includes("missing_scope"))
      if (operation.scopes.includes(scope))
        assert.isBelow(refused.length, answers.length, `${scope}: ${JSON.stringify(answers)}`)
      else
        assert.deepStrictEqual(
          answers,
          answers.map(() => ({ status: 403, words: ["permission_denied", "missing_scope"] })),
          scope
        )
    }
  })

  it.each(all)("%s takes no stranger, and other credentials only where it names their scheme", async (_, operation) => {
    const { example, schemes } = operation
    assert.deepStrictEqual(await ask(operation, undefined, example), {
      status: 401,
      words: ["unauthenticated", "missing_credential"]
    })
    const unknown = { status: 401, words: ["unauthenticated", "invalid_credential"] }
    assert.deepStrictEqual(
      await ask(operation, "trp_00000000_00000000000000000000000000000000000000", example),
      unknown
    )
    const refused = (code: string) => ({ status: 403, words: ["credential_not_accepted", code] })
    assert.deepStrictEqual(
      await ask(operation, "trl_unknown", example),
      schemes.includes("AgentLeaseBearer") ? unknown : refused("agent_lease")
    )
    assert.deepStrictEqual(
      await ask(operation, "trd_unknown", example),
      schemes.includes("DeliveryBearer") ? unknown : refused("delivery_token")
    )
  })
})

/** What the gate says to a credential that it does not let in; undefined where it lets it in. */
const refusalOf = ({ credentials, scopes }: Operation, { kind, scope }: Cell) => {
  if (!credentials.includes(kind)) {
    if (kind === "lease") return ["credential_not_accepted", "agent_lease"]
    if (kind === "delivery") return ["credential_not_accepted", "delivery_token"]
    return ["permission_denied", "trigger"]
  }
  return scope === undefined || scopes.includes(scope) ? undefined : ["permission_denied", "missing_scope"]
}
const gates = ["missing_scope", "trigger", "agent_lease", "delivery_token", "invalid_credential", "missing_credential"]

describe("the table of who may do what", () => {
  it("names keys of people and of programs everywhere, and agrees with the schemes", () => {
    for (const operation of operations) {
      const { credentials, schemes } = operation
      assert.includeMembers([...credentials], ["api_key", "user"], titleOf(operation))
      assert.strictEqual(credentials.includes("lease"), schemes.includes("AgentLeaseBearer"), titleOf(operation))
      assert.strictEqual(credentials.includes("delivery"), schemes.includes("DeliveryBearer"), titleOf(operation))
    }
  })

  it("lets leases and triggers in where the contract says, and nowhere else", () => {
    const taking = (kind: CredentialKind) =>
      operations.filter(({ credentials }) => credentials.includes(kind)).map(titleOf)
    assert.sameMembers(taking("lease"), [
      "GET /v1/auth",
      "GET /v1/agents/{agentId}",
      "GET /v1/threads/{threadId}",
      "POST /v1/agents/{agentId}/subscriptions",
      "GET /v1/subscriptions",
      "GET /v1/subscriptions/{subscriptionId}",
      "PATCH /v1/subscriptions/{subscriptionId}",
      "DELETE /v1/subscriptions/{subscriptionId}",
      "GET /v1/agents/{agentId}/memory",
      "GET /v1/agents/{agentId}/memory/search",
      "GET /v1/agents/{agentId}/memory/entry",
      "PUT /v1/agents/{agentId}/memory/entry",
      "DELETE /v1/agents/{agentId}/memory/entry",
      "GET /v1/memory",
      "GET /v1/memory/search",
      "GET /v1/memory/entry",
      "PUT /v1/memory/entry",
      "DELETE /v1/memory/entry",
      "POST /v1/agents/{agentId}/schedules",
      "GET /v1/agents/{agentId}/schedules",
      "GET /v1/agents/{agentId}/schedules/{scheduleId}",
      "PATCH /v1/agents/{agentId}/schedules/{scheduleId}",
      "DELETE /v1/agents/{agentId}/schedules/{scheduleId}",
      "POST /v1/agents/{agentId}/schedules/{scheduleId}/run",
      "GET /v1/agents/{agentId}/schedules/{scheduleId}/runs",
      "GET /v1/feeds",
      "GET /v1/feeds/{feedId}",
      "GET /v1/feeds/{feedId}/messages",
      "POST /v1/feeds/{feedId}/messages",
      "GET /v1/operations/{operationId}",
      "POST /v1/operations/{operationId}/cancel",
      "POST /v1/identities/disable",
      "POST /v1/identities/enable"
    ])
    assert.sameMembers(taking("trigger"), [
      "GET /v1/auth",
      "POST /v1/threads",
      "GET /v1/threads",
      "GET /v1/threads/{threadId}",
      "POST /v1/threads/{threadId}/messages",
      "POST /v1/feeds/{feedId}/messages",
      "GET /v1/threads/{threadId}/events",
      "GET /v1/threads/{threadId}/events/stream"
    ])
  })

  it.each(all)("holds for every kind of credential with every scope: %s", async (_, operation) => {
    for (const cell of cells) {
      const answers = []
      for (const body of bodiesOf(operation)) answers.push(await ask(operation, cell.token, body))
      const refusal = refusalOf(operation, cell)
      const what = `${cell.kind} ${cell.scope ?? ""}: ${JSON.stringify(answers)}`
      if (refusal === undefined)
        assert.isTrue(
          answers.some(({ words: [, code] }) => !gates.includes(code)),
          what
        )
      else for (const { status, words } of answers) assert.deepStrictEqual([status, words], [403, refusal], what)
    }
  })
})
