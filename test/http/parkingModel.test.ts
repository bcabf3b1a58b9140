/**
 * Operations on two nodes against a model: whatever is asked, decided and cancelled, in whatever order and by whomever,
 * and whenever a node dies, an operation ends in one state, and what it asks for is carried out at most once.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { sql } from "kysely"
import { operationsChores } from "../../http/operations/chore.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { Deaths } from "./dying.ts"
import { fresh } from "./toolFixture.ts"

const deaths = new Deaths()
const server = await during(startServer({ name: "one", database: deaths.layer }))
const other = await during(startServer({ beside: server, name: "two" }))

/** A change of rows, one that holds against a version, and a command to an actor. */
const actions = ["agent.create", "agent.update", "identity.disable"] as const
type Action = (typeof actions)[number]
type State = "pending" | "completed" | "failed" | "denied" | "cancelled" | "expired"

/** What the interface promises of one operation. */
interface Model {
  readonly action: Action
  state: State
  /** The key that asked was revoked. */
  isRevoked: boolean
  /** How often what the request is about was changed by somebody else. */
  moves: number
}
interface Real {
  readonly operationId: string
  /** The same request once more, on a node. */
  readonly ask: (node: number) => ReturnType<Client["send"]>
  readonly revoke: () => Promise<void>
  /** The version of what it is about moves on. */
  readonly move: () => Promise<void>
  readonly clients: { readonly [who in "asker" | "ben" | "cat"]: ReadonlyArray<Client> }
}

type Verdict = "approve" | "deny" | "cancel"
const leadsTo = { approve: "completed", deny: "denied", cancel: "cancelled" } as const

/** It would be refused by now: the key is no more, or the version is another one. */
const isHopeless = ({ action, isRevoked, moves, state }: Model) =>
  isRevoked || (action === "agent.update" && (moves > 0 || state === "completed"))

/** Status and word that the interface owes; the state afterwards. */
const expected = (model: Model, verdict: Verdict, isAsker: boolean): readonly [number, State] => {
  const { state } = model
  if (isAsker !== (verdict === "cancel")) return [403, state]
  if (state === "pending") return [200, verdict === "approve" && isHopeless(model) ? "failed" : leadsTo[verdict]]
  if (state === "expired") return [410, state]
  const same = state === leadsTo[verdict] || (state === "failed" && verdict === "approve")
  return [same ? 200 : 409, state]
}

const stateOf = async (client: Client, id: string): Promise<State> =>
  (await client.get(`/v1/operations/${id}`)).body.operation.state

class Decide implements fc.AsyncCommand<Model, Real> {
  readonly verdict: Verdict
  readonly who: "asker" | "ben" | "cat"
  readonly node: number
  constructor(verdict: Verdict, who: "asker" | "ben" | "cat", node: number) {
    this.verdict = verdict
    this.who = who
    this.node = node
  }
  // A revoked key may be taken for a beat on the other node.
  check({ isRevoked }: Model) {
    return !isRevoked || this.who !== "asker"
  }
  async run(model: Model, { clients, operationId }: Real) {
    const client = clients[this.who][this.node] ?? assert.fail()
    const answer = await client.post(`/v1/operations/${operationId}/${this.verdict}`)
    const [status, state] = expected(model, this.verdict, this.who === "asker")
    assert.strictEqual(answer.status, status, `${this.toString()} of ${model.state}: ${answer.text}`)
    model.state = state
    for (const seen of clients.ben) assert.strictEqual(await stateOf(seen, operationId), state)
  }
  toString() {
    return `${this.who} ${this.verdict}s on node ${this.node}`
  }
}

/** Two at the same time, one on each node: the one that is first decides what the other is told. */
class DecideAtOnce implements fc.AsyncCommand<Model, Real> {
  readonly verdicts: readonly [Verdict, Verdict]
  constructor(one: Verdict, two: Verdict) {
    this.verdicts = [one, two]
  }
  check({ isRevoked }: Model) {
    return !isRevoked || !this.verdicts.includes("cancel")
  }
  async run(model: Model, { clients, operationId }: Real) {
    const send = (verdict: Verdict, node: number) => {
      const client = (verdict === "cancel" ? clients.asker : clients.ben)[node] ?? assert.fail()
      return client.post(`/v1/operations/${operationId}/${verdict}`)
    }
    const [one, two] = this.verdicts
    const got = (await Promise.all([send(one, 0), send(two, 1)])).map(({ status }) => status)
    const orders = [
      [one, two],
      [two, one]
    ] as const
    const fits = orders.flatMap(([first, second]) => {
      const [a, between] = expected(model, first, first === "cancel")
      const [b, after] = expected({ ...model, state: between }, second, second === "cancel")
      const statuses = first === one ? [a, b] : [b, a]
      return statuses.join() === got.join() ? [after] : []
    })
    const state = await stateOf(clients.ben[0] ?? assert.fail(), operationId)
    assert.include(fits, state, `${this.toString()} of ${model.state}: ${got.join()}`)
    model.state = state
  }
  toString() {
    return `${this.verdicts.join(" and ")} at once`
  }
}

class TimePasses implements fc.AsyncCommand<Model, Real> {
  check() {
    return true
  }
  async run(model: Model, { operationId }: Real) {
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        sql`update operations set expires_at = now() - interval '1 second' where id = ${toUuid(operationId)}`.execute(
          db
        )
      )
    )
    if (model.state === "pending") model.state = "expired"
  }
  toString() {
    return "a day passes"
  }
}

/** As long as it waits it is the same operation, on whichever node; then it is another one. */
class AskAgain implements fc.AsyncCommand<Model, Real> {
  readonly node: number
  constructor(node: number) {
    this.node = node
  }
  check({ isRevoked }: Model) {
    return !isRevoked
  }
  async run(model: Model, { ask, operationId }: Real) {
    const { state } = model
    const { body, status, text } = await ask(this.node)
    // Nothing hopeless parks, also where it waits already.
    assert.strictEqual(status, isHopeless(model) ? 412 : 202, `${this.toString()}: ${state}: ${text}`)
    if (status === 202)
      assert.strictEqual(body.operation.id === operationId, state === "pending", `${this.toString()}: ${state}`)
  }
  toString() {
    return `the same is asked on node ${this.node}`
  }
}

class KeyIsRevoked implements fc.AsyncCommand<Model, Real> {
  check({ isRevoked }: Model) {
    return !isRevoked
  }
  async run(model: Model, { revoke }: Real) {
    await revoke()
    model.isRevoked = true
  }
  toString() {
    return "the key that asked is revoked"
  }
}

class VersionMoves implements fc.AsyncCommand<Model, Real> {
  check({ action }: Model) {
    return action === "agent.update"
  }
  async run(model: Model, { move }: Real) {
    await move()
    model.moves++
  }
  toString() {
    return "somebody else changes it"
  }
}

const verdict = fc.constantFrom<Verdict>("approve", "deny", "cancel")
const commands = fc.commands(
  [
    fc
      .tuple(verdict, fc.constantFrom("asker" as const, "ben" as const, "cat" as const), fc.nat(1))
      .map((of) => new Decide(...of)),
    fc.tuple(verdict, verdict).map((of) => new DecideAtOnce(...of)),
    fc.nat(1).map((node) => new AskAgain(node)),
    fc.constant(new KeyIsRevoked()),
    fc.constant(new VersionMoves()),
    fc.constant(new TimePasses())
  ],
  { maxCommands: 6 }
)

const makeSpace = async () => {
  const space = await server.workspace("model")
  const make = async () => {
    const client = await server.client(space)
    return [client, other.at(client)]
  }
  const others = { ben: await make(), cat: await make() }
  const [admin = assert.fail()] = others.cat
  const profileId: string = (await admin.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile
    .id
  const rules = [{ actions, principals: ["api_key"], require: true }]
  assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
  // What people ask for does not park.
  const person = await admin.post("/v1/auth/keys", { name: "person", kind: "user", scopes: ["read", "write"] })
  assert.strictEqual(person.status, 201, person.text)
  const mover = new Client(server.base, person.body.token)
  return { admin, make, mover, others, profileId }
}
type Space = Awaited<ReturnType<typeof makeSpace>>

/** What is asked for under a name of its own, and how often it has happened. */
const subjectOf = async (action: Action, name: string, { admin, mover, profileId }: Space) => {
  const identity = `${name.replace(" ", "-")}@example.com`
  const path = `/v1/agents/${(await mover.post("/v1/agents", { name: "before", profileId })).body.agent.id}`
  const versionOf = async () => Number((await admin.get(path)).headers.get("etag")?.replaceAll('"', ""))
  const first = await versionOf()
  const requests = {
    "agent.create": (client: Client, headers = {}) => client.post("/v1/agents", { name, profileId }, headers),
    "agent.update": (client: Client) => client.patch(path, { name }, { "if-match": `"${first}"` }),
    "identity.disable": (client: Client, headers = {}) => client.post("/v1/identities/disable", { identity }, headers)
  }
  const carriedOut = {
    "agent.create": async () => {
      const { agents } = (await admin.get("/v1/agents?limit=200")).body
      return agents.filter((agent: { readonly name: string }) => agent.name === name).length
    },
    "agent.update": async (moves: number) => {
      const times = (await versionOf()) - first - moves
      assert.strictEqual((await admin.get(path)).body.agent.name === name, times === 1)
      return times
    },
    "identity.disable": async () => {
      const { identities } = (await admin.get("/v1/identities?limit=200")).body
      return identities.filter((one: { readonly identity: string }) => one.identity === identity).length
    }
  }
  let tag = 0
  const move = async () => {
    const tags = [`t${++tag}`]
    assert.strictEqual((await mover.patch(path, { tags })).status, 200)
  }
  return { ask: requests[action], carriedOut: carriedOut[action], move }
}

describe("an operation on two nodes", () => {
  it("ends in one state, and is carried out at most once", async () => {
    const space = await makeSpace()
    const { admin, make, others } = space
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...actions), commands, async (action, sequence) => {
        const clients = { ...others, asker: await make() }
        const { ask, carriedOut, move } = await subjectOf(action, fresh("run "), space)
        const askOn = (node: number) => ask(clients.asker[node] ?? assert.fail())
        const revoke = async () => {
          const key = (await (clients.asker[0] ?? assert.fail()).get("/v1/auth")).body.principal.id
          assert.strictEqual((await admin.delete(`/v1/auth/keys/${key}`)).status, 204)
        }
        const asked = await askOn(0)
        assert.strictEqual(asked.status, 202, asked.text)
        const model: Model = { action, state: "pending", isRevoked: false, moves: 0 }
        const real = { operationId: asked.body.operation.id, ask: askOn, revoke, move, clients }
        await fc.asyncModelRun(() => ({ model, real }), sequence)
        assert.strictEqual(await carriedOut(model.moves), model.state === "completed" ? 1 : 0)
      }),
      { numRuns: 60, verbose: true }
    )
  }, 120_000)
})

describe("whichever commit of it its node dies at, an operation is parked once, and carried out once:", () => {
  /** As every node does it now and then, ten seconds later. */
  const tend = async () => {
    const late = sql`update operations set resolved_at = now() - interval '11 seconds' where state = 'approved'`
    await other.runtime.runPromise(other.database.run("test", (db) => late.execute(db)))
    for (const { name, work } of operationsChores) if (name === "tend operations") await other.runtime.runPromise(work)
  }

  /** Asked of the node that may die, and of the other one where it has: what either has answered. */
  const survive = async <A>(ask: (node: number) => Promise<A>): Promise<A> =>
    (await deaths.survived(ask(0))) ?? (await ask(1))

  const run = async (action: Action, verdict: "approve" | "deny", space: Space, name: string) => {
    const { ask, carriedOut } = await subjectOf(action, name, space)
    const asker = await space.make()
    const on = (clients: ReadonlyArray<Client>, node: number) => clients[node] ?? assert.fail()
    const asked = await survive((node) => ask(on(asker, node), { "idempotency-key": name }))
    assert.strictEqual(asked.status, 202, asked.text)
    const { id } = asked.body.operation
    const decide = (node: number) => on(space.others.ben, node).post(`/v1/operations/${id}/${verdict}`)
    const decided = await survive(decide)
    assert.strictEqual(decided.status, 200, decided.text)
    await tend()
    const { operation } = (await decide(1)).body
    assert.strictEqual(operation.state, leadsTo[verdict])
    const key: string = (await on(asker, 1).get("/v1/auth")).body.principal.id
    const parked = await server.runtime.runPromise(
      server.database.run("test", (db) => sql`select from operations where requested_by ->> 'id' = ${key}`.execute(db))
    )
    assert.lengthOf(parked.rows, 1)
    assert.strictEqual(await carriedOut(0), verdict === "approve" ? 1 : 0)
  }

  it.each<[Action, "approve" | "deny", number]>([
    ["agent.create", "approve", 2],
    ["agent.update", "approve", 2],
    ["identity.disable", "approve", 3],
    ["agent.create", "deny", 2]
  ])("%s, %s", async (action, verdict, commits) => {
    const space = await makeSpace()
    deaths.at(undefined)
    await run(action, verdict, space, fresh(`${action} ${verdict} `))
    assert.strictEqual(deaths.commits, commits)
    for (let commit = 1; commit <= commits; commit++)
      for (const fault of ["before", "after"] as const) {
        deaths.at({ commit, fault })
        await run(action, verdict, space, fresh(`${action} ${verdict} ${fault} ${commit} `))
      }
  })
})
