/** Stores of memory, as clients use them. */
import { assert } from "@effect/vitest"
import type { Client, TestServer } from "../setup/server.ts"
import { makeAgent } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

export const query = (fields: Readonly<Record<string, string | undefined>>) => {
  const sent = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  )
  return sent.length === 0 ? "" : `?${sent.join("&")}`
}

/** One store, as a client uses it. */
export class Store {
  readonly client: Client
  readonly path: string
  constructor(client: Client, path: string) {
    this.client = client
    this.path = path
  }
  put(key: string, value: string, expectedVersion?: string, headers?: Record<string, string>) {
    const body = { value, ...(expectedVersion === undefined ? {} : { expectedVersion }) }
    return this.client.put(`${this.path}/entry${query({ key })}`, body, headers)
  }
  get(key: string) {
    return this.client.get(`${this.path}/entry${query({ key })}`)
  }
  delete(key?: string, expectedVersion?: string, headers?: Record<string, string>) {
    return this.client.delete(`${this.path}/entry${query({ key, expectedVersion })}`, headers)
  }
  async versions(key: string) {
    return (await this.client.get(`${this.path}/entry/versions${query({ key })}`)).body.versions
  }
  async version(key: string) {
    return (await this.get(key)).body.entry?.version as string
  }
  async keys(more: Readonly<Record<string, string>> = {}) {
    const answer = await this.client.get(`${this.path}${query(more)}`)
    assert.strictEqual(answer.status, 200, answer.text)
    return (answer.body.entries as ReadonlyArray<{ readonly key: string }>).map(({ key }) => key)
  }
}

/** A version that no entry has. */
export const another = "mver_01m7y1svs7e0087pe32vr71000"

/** Of the server that a file of tests has started. */
export const makeStores = (server: TestServer) => {
  const run = <A>(work: (db: Parameters<Parameters<TestServer["database"]["run"]>[1]>[0]) => Promise<A>) =>
    server.runtime.runPromise(server.database.run("test", work))
  const ofAgent = async (client = server.alpha) => {
    const agentId = await makeAgent(client)
    return new Store(client, `/v1/agents/${agentId}/memory`)
  }
  /** The workspace's, of a workspace of its own. */
  const ofWorkspace = async () => new Store(await server.client(await server.workspace(fresh("memory"))), "/v1/memory")
  const stores = { "an agent's store": () => ofAgent(), "the workspace's store": ofWorkspace }
  return { ofAgent, ofWorkspace, run, stores }
}
