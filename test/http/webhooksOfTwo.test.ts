/** Webhooks of a cluster: whoever made one is told of what happens on any node from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { fresh } from "./toolFixture.ts"

const first = await during(startServer())
const second = await during(startServer({ beside: first, name: "second" }))

const knows = ({ runtime }: typeof first, workspace: string) =>
  runtime.runPromise(Effect.map(WebhookInterest, (interest) => interest.has(workspace)))

describe("a webhook", () => {
  it("that is made, or enabled, is known to every node when that is answered", async () => {
    const workspace = await first.workspace(fresh("hooks"))
    const client = await first.client(workspace)
    const input = { url: "https://receiver.example/hook", events: ["turn.completed"] }
    const made = await client.post("/v1/webhooks", input)
    assert.strictEqual(made.status, 201, made.text)
    assert.deepStrictEqual([await knows(first, workspace), await knows(second, workspace)], [true, true])
    const path = `/v1/webhooks/${made.body.webhook.id}`
    assert.strictEqual((await client.patch(path, { enabled: false })).status, 200)
    assert.deepStrictEqual(await knows(second, workspace), false)
    assert.strictEqual((await client.patch(path, { enabled: true })).status, 200)
    assert.deepStrictEqual(await knows(second, workspace), true)
  })
})
