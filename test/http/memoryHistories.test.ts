/**
 * Histories of memory entries: many clients compare and set on two nodes at once, and what they were told has to fit
 * one chain of versions, in the order of real time. Crash points (crashing.ts) of the tools that write.
 */
import { assert, it } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { startNodes, withEachCrash } from "./crashing.ts"
import { ended, logOf, text } from "./threadFixture.ts"
import { call, fresh, makeWorker, outcomes } from "./toolFixture.ts"

/** How many requests are made in all. */
const operations = Number(process.env.TROUPE_OPERATIONS ?? 2_000)
const clients = 16
/** As many writes of one entry as its versions are kept for. */
const mostWrites = 100 - clients

// Each commit of a turn counts.
const nodes = await during(startNodes(({ actor }) => actor.kind === "thread"))
const server = nodes.first
const other = nodes.second

interface Told {
  readonly what: "put" | "delete" | "get"
  readonly expected: string
  readonly status: number
  /** Of what was written or read, or of what stood in the way; empty where there was no entry. */
  readonly version: string
  readonly began: number
  readonly ended: number
}
interface Version {
  readonly version: string
  readonly previousVersion?: string
  readonly operation: string
}

const none = "none"

/** One entry: all clients at it until it has as many versions as are kept. */
const history = async (left: () => boolean) => {
  const path = `/v1/memory/entry?key=${fresh("history")}`
  const told: Array<Told> = []
  let writes = 0
  const client = async (number: number) => {
    const { alpha } = number % 2 === 0 ? server : { alpha: other.at(server.alpha) }
    let seen = none
    for (let i = number; writes < mostWrites && left(); i++) {
      const what = i % 7 === 0 ? "delete" : i % 5 === 0 || seen === "" ? "get" : "put"
      const expected = seen === "" ? none : seen
      const began = performance.now()
      const answer =
        what === "get"
          ? await alpha.get(path)
          : what === "put"
            ? await alpha.put(path, { value: `${number} ${i}`, expectedVersion: expected })
            : await alpha.delete(`${path}&expectedVersion=${expected}`)
      const version: string = answer.body.entry?.version ?? answer.body.currentVersion ?? ""
      told.push({ what, expected, status: answer.status, version, began, ended: performance.now() })
      if (what !== "get" && answer.status < 300) writes++
      seen = version === "" ? none : version
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  const listed = await server.alpha.get(path.replace("entry?", "entry/versions?limit=200&"))
  return { told, chain: (listed.body.versions as ReadonlyArray<Version>).toReversed() }
}

const check = ({ chain, told }: Awaited<ReturnType<typeof history>>) => {
  // One chain: each names the one before.
  for (const [i, { previousVersion }] of chain.entries())
    assert.strictEqual(previousVersion, i === 0 ? undefined : chain[i - 1]!.version)
  const placeOf = new Map(chain.map(({ version }, place) => [version, place]))
  const isGone = (place: number) => place === -1 || chain[place]!.operation === "delete"

  const written = told.flatMap((one) => {
    if (one.what === "get" || one.status >= 300) return []
    // A delete does not say its version: it is the one behind what it has compared with.
    const place = one.what === "put" ? placeOf.get(one.version) : placeOf.get(one.expected)! + 1
    assert(place !== undefined, `a write that was told is not in the chain: ${JSON.stringify(one)}`)
    assert.strictEqual(chain[place]!.operation, one.what)
    if (one.expected === none) assert.isTrue(isGone(place - 1), "it was made where there was one")
    else assert.strictEqual(chain[place]!.previousVersion, one.expected)
    return [{ ...one, place }]
  })
  assert.strictEqual(new Set(written.map(({ place }) => place)).size, written.length)
  // What was refused has changed nothing: all that is in the chain was told.
  assert.strictEqual(written.length, chain.length)

  const byPlace = written.toSorted((a, b) => a.place - b.place)
  let latest = -Infinity
  for (const { began, ended } of byPlace) {
    assert.isAtLeast(ended, latest, "a write was over before one began that it follows")
    latest = Math.max(latest, began)
  }
  for (const one of told) {
    if (one.what !== "get" && one.status < 300) continue
    // What it saw was so at some moment of its own.
    const first = byPlace.findLast(({ ended }) => ended < one.began)?.place ?? -1
    const last = byPlace.findLast(({ began }) => began < one.ended)?.place ?? -1
    const places = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    if (one.version === "") assert.isTrue(places.some(isGone), `nobody had deleted it: ${JSON.stringify(one)}`)
    else assert.include(places, placeOf.get(one.version), JSON.stringify(one))
    if (one.status === 409) assert.notStrictEqual(one.version, one.expected)
  }
}

it(`is one chain in the order of real time, and what compared in vain has changed nothing (${operations} requests)`, async () => {
  let made = 0
  const counts = { won: 0, conflicts: 0 }
  while (made < operations) {
    const found = await history(() => made++ < operations)
    check(found)
    counts.won += found.chain.length
    counts.conflicts += found.told.filter(({ status }) => status === 409).length
  }
  assert.isAbove(counts.won, operations / 50)
  assert.isAbove(counts.conflicts, operations / 50)
}, 600_000)

it("of an agent's tools is as long as its calls say, whichever commit of their turn a node dies at", async () => {
  const lines = [
    call("memory.put", { key: "k", value: "one", expectedVersion: "none" }),
    call("memory.put", { key: "k", value: "two" }),
    call("memory.delete", { key: "k" }),
    call("memory.put", { key: "k", value: "three", expectedVersion: "none" })
  ]
  await withEachCrash(nodes, {
    name: "puts and a delete of an agent",
    does: async (run) => {
      const agentId = await makeWorker(run.client, { families: ["memory"], familyExposure: "always" })
      const message = { content: text(lines.join("\n/then\n")) }
      const { thread } = await run.post("/v1/threads", { agentId, message })
      const log = await logOf(run.client, thread.id, ended(1))
      const { body } = await run.client.get(`/v1/agents/${agentId}/memory/entry/versions?key=k`)
      const chain: ReadonlyArray<Version> = body.versions.toReversed()
      assert.deepStrictEqual(
        chain.map(({ operation }) => operation),
        ["put", "put", "delete", "put"]
      )
      const put = (size: number, place: number) => ({ entry: { key: "k", size, version: chain[place]?.version } })
      assert.deepStrictEqual(outcomes(log), [put(3, 0), put(3, 1), { deleted: true }, put(5, 3)])
    }
  })
}, 240_000)
