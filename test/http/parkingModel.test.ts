/**
 * Operations on two nodes against a model: whatever is asked, decided and cancelled, in whatever order and by whomever,
 * an operation ends in one state, and what it asks for is carried out at most once.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { sql } from "kysely"
import { afterAll, beforeAll } from "vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"

let server: TestServer
let other: TestServer
beforeAll(async () => {
  server = await startServer({ name: "one" })
  other = await startServer({ beside: server, name: "two" })
})
afterAll(async () => {
  await other.stop()
  await server.stop()
})

type State = "pending" | "completed" | "failed" | "denied" | "cancelled" | "expired"

/** What the interface promises of one operation. */
interface Model {
  state: State
  /** The key that asked was revoked. */
  isRevoked: boolean
}
interface Real {
  readonly operationId: string
  /** The same request once more, on a node. */
  readonly ask: (node: number) => ReturnType<Client["send"]>
  readonly revoke: () => Promise<void>
  readonly clients: { readonly [who in "asker" | "ben" | "cat"]: ReadonlyArray<Client> }
}

type Verdict = "approve" | "deny" | "cancel"
const leadsTo = { approve: "completed", deny: "denied", cancel: "cancelled" } as const

/** Status and word that the interface owes; the state afterwards. */
const expected = ({ isRevoked, state }: Model, verdict: Verdict, isAsker: boolean): readonly [number, State] => {
  if (isAsker !== (verdict === "cancel")) return [403, state]
  if (state === "pending") return [200, verdict === "approve" && isRevoked ? "failed" : leadsTo[verdict]]
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
  async run({ state }: Model, { ask, operationId }: Real) {
    const { body, status, text } = await ask(this.node)
    assert.strictEqual(status, 202, text)
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

const verdict = fc.constantFrom<Verdict>("approve", "deny", "cancel")
const commands = fc.commands(
  [
    fc
      .tuple(verdict, fc.constantFrom("asker" as const, "ben" as const, "cat" as const), fc.nat(1))
      .map((of) => new Decide(...of)),
    fc.tuple(verdict, verdict).map((of) => new DecideAtOnce(...of)),
    fc.nat(1).map((node) => new AskAgain(node)),
    fc.constant(new KeyIsRevoked()),
    fc.constant(new TimePasses())
  ],
  { maxCommands: 6 }
)

describe("an operation on two nodes", () => {
  it("ends in one state, and is carried out at most once", async () => {
    const space = await server.workspace("model")
    const make = async () => {
      const client = await server.client(space)
      return [client, other.at(client)]
    }
    const others = { ben: await make(), cat: await make() }
    const [admin = assert.fail()] = others.cat
    const profileId = (await admin.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile.id
    const rules = [{ actions: ["agent.create"], principals: ["api_key"], require: true }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const name = `run ${++runs}`
        const clients = { ...others, asker: await make() }
        const ask = (node: number) => (clients.asker[node] ?? assert.fail()).post("/v1/agents", { name, profileId })
        const revoke = async () => {
          const key = (await (clients.asker[0] ?? assert.fail()).get("/v1/auth")).body.principal.id
          assert.strictEqual((await admin.delete(`/v1/auth/keys/${key}`)).status, 204)
        }
        const asked = await ask(0)
        assert.strictEqual(asked.status, 202, asked.text)
        const model: Model = { state: "pending", isRevoked: false }
        const real = { operationId: asked.body.operation.id, ask, revoke, clients }
        await fc.asyncModelRun(() => ({ model, real }), sequence)
        const made: ReadonlyArray<{ readonly name: string }> = (await admin.get("/v1/agents?limit=200")).body.agents
        assert.strictEqual(made.filter((agent) => agent.name === name).length, model.state === "completed" ? 1 : 0)
      }),
      { numRuns: 60, verbose: true }
    )
  }, 120_000)
})
