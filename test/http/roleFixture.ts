/** Roles as tests make them, and workspaces to make them in. */
import { assert } from "@effect/vitest"
import { builtInRoles } from "../../src/roles/role.ts"
import type { Client, TestServer } from "../setup/server.ts"
import { fresh as freshName } from "./toolFixture.ts"

export const made = async (client: Client, fields: object = {}) => {
  const answer = await client.post("/v1/roles", { name: "R", ...fields })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.role
}
export const idsOf = (roles: ReadonlyArray<{ readonly id: string }>) => roles.map(({ id }) => id)
export const builtInIds = idsOf(builtInRoles)

/** Of the server that a file of tests has started. */
export const makeWorkspaces = (server: TestServer) => {
  /** A workspace of its own: roles are few, and tests must not fill each other's. */
  const fresh = async () => server.client(await server.workspace(freshName("roles")))
  return { fresh }
}
