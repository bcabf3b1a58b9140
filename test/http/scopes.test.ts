/**
 * Which credential may do what: every operation of the document, with a key of each scope alone, with none, and with
 * those that are no keys.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Scope, scopes } from "../../src/keys/apiKey.ts"
import { type Client, sharedServer, type TestServer } from "../setup/server.ts"
import { type Operation, operations, schemas, titleOf } from "./document.ts"
import { absent, furnish, type Ids, pathWith } from "./everything.ts"
import { fitting } from "./jsonSchema.ts"

let server: TestServer
let nobodys: Ids
const holders = new Map<Scope, Client>()
beforeAll(async () => {
  server = await sharedServer()
  // What is asked for is not there: with the right scope as without it, nothing happens to it.
  nobodys = Object.fromEntries(Object.entries(await furnish(server.alpha)).map(([name, id]) => [name, absent(id)]))
  for (const scope of scopes) holders.set(scope, await server.client(server.workspaces.alpha, { scopes: [scope] }))
})
afterAll(() => server.stop())

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
