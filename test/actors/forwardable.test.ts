/** Requests as they pass between nodes, of this version and of the one before. */
import { assert, describe, it } from "@effect/vitest"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { isStorable, decodeRequest } from "../../actors/thread/forwardable.ts"
import { freshId } from "../../src/seed.ts"

const content = [{ type: "text", text: "hello" }] as const
const principal = { type: "api_key", id: "key_bob", identity: "bob" } as const
const sent = (request: unknown) => decodeRequest(JSON.parse(JSON.stringify(request)))

describe("a request that another node sends", () => {
  const edit: ThreadRequest = { type: "edit", inputId: freshId("input"), content, principal, profileModels: true }
  const submit: ThreadRequest = {
    type: "submit",
    input: { inputId: freshId("input"), content, mode: "queue", principal, model: "a/b" },
    profileModels: true
  }

  it("says who edits, and whether they may name any model", () => {
    assert.deepStrictEqual(sent(edit), edit)
    assert.deepStrictEqual(sent(submit), submit)
  })

  it("may say neither: a node of the version before does not", () => {
    const { principal: _, profileModels: __, ...older } = edit
    assert.deepStrictEqual(sent(older), older)
    const { profileModels: ___, ...unbound } = submit
    assert.deepStrictEqual(sent(unbound), unbound)
  })

  it("is not kept for an owner that cannot be reached where only the owner knows whether the model may be named", () => {
    const { profileModels: _, ...unbound } = submit
    assert.deepStrictEqual([isStorable(submit), isStorable(unbound)], [false, true])
  })
})
