/** What a watcher sees of a node that leaves and comes back: goodbye, and then the rest of the log. */
import { assert, describe, it } from "@effect/vitest"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Watcher } from "../http/sse.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import { Client } from "../setup/server.ts"
import { Child } from "./Child.ts"
import { devKeyOf } from "./devKey.ts"

const project = resolve(import.meta.dirname, "..", "..")

const start = async (folder: string) => {
  const environment = {
    TROUPE_DATA: folder,
    TROUPE_PORT: "0",
    TROUPE_DATABASE_URL: "",
    TROUPE_DEV_KEY: "",
    TROUPE_DRAIN_SECONDS: "5"
  }
  const child = new Child(process.execPath, [join(project, "src", "start.mjs"), "dev"], {
    cwd: project,
    env: environment
  })
  const base = (await child.until(/API\s+(http:\S+)/))[1] ?? ""
  const key = await devKeyOf(child)
  await child.until(/^curl .*\n/m)
  return { child, base, client: new Client(base, key) }
}

describe("a node that is told to stop while it is watched", () => {
  it("says goodbye to every watcher, also to one that does not read, and ends in time; the log goes on where it was", async () => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-streams-"))
    let node = await start(folder)
    try {
      const agentId = await makeAgent(node.client)
      const threadId = await makeThread(node.client, agentId)
      const path = `/v1/threads/${threadId}/events/stream?afterSeq=0&types=event`
      const watchers = await Promise.all(
        ["/v1/events/stream", `/v1/agents/${agentId}/events/stream`, path].map((path) =>
          Watcher.open(node.base, path, node.client.token!)
        )
      )
      const deaf = await Watcher.open(node.base, path, node.client.token!, {}, true)
      await submit(node.client, threadId, "first")
      await submit(node.client, threadId, "/wait 60s\nsecond")
      await watchers[2]!.until((watcher) => watcher.events("event").length === 4)
      const polling = node.client.get(`/v1/threads/${threadId}/events?afterSeq=4&waitSeconds=30`)
      // A request that was not there yet when the node left would be refused, which is right, but not tried here.
      await node.client.get(`/v1/threads/${threadId}`)
      const began = Date.now()
      const code = node.child.end()
      for (const watcher of watchers) {
        await watcher.until(({ closed }) => closed)
        assert.deepStrictEqual(watcher.frames.at(-1), { event: "bye", id: undefined, data: { reason: "draining" } })
      }
      assert.deepStrictEqual((await polling).body, { events: [] })
      assert.strictEqual(await code, 0)
      assert.isBelow(Date.now() - began, 10_000)
      deaf.close()

      node = await start(folder)
      const last = watchers[2]!.events("event").at(-1)!.id!
      const again = await Watcher.open(node.base, path, node.client.token!, { "last-event-id": last })
      await node.client.post(`/v1/threads/${threadId}/cancel`)
      const log = await logOf(node.client, threadId, ended(2))
      await again.until((watcher) => watcher.events("event").at(-1)?.id === String(log.length))
      assert.deepStrictEqual(
        [...watchers[2]!.events("event"), ...again.events("event")].map(({ data }) => data),
        log.map((event) => ({ ...event }))
      )
      again.close()
    } finally {
      await node.child.end()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
