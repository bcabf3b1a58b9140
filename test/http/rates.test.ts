/** Who may ask how often: credentials, workspaces, and those who have no good credential. */
import { assert, describe, it } from "@effect/vitest"
import { generateKey } from "../../src/keys/keyText.ts"
import { freshId } from "../../src/seed.ts"
import { addressFrom } from "../../http/address.ts"
import { makeLimits, RateLimit } from "../../http/RateLimit.ts"
import { send } from "./client.ts"
import { serving, World } from "./tiny.ts"

const caller = (keyId: string, workspace = "w") => ({ keyId, workspace })

describe("the bucket of a workspace", () => {
  it("is shared by its credentials, and no other workspace's", () => {
    let now = 0
    const { take } = makeLimits({ credential: 0, workspace: 2 }, () => now)
    const refused = (keyId: string, workspace?: string) => take?.(caller(keyId, workspace)).refused?.message
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((keyId) => refused(keyId)),
      Array(4).fill(undefined)
    )
    assert.strictEqual(
      refused("e"),
      "at most 2 requests a second in one workspace; a body or an answer counts as one more for each 64 KiB of it"
    )
    assert.isUndefined(refused("a", "other"))
    now = 500
    assert.isUndefined(refused("a"))
    assert.isDefined(refused("b"))
  })

  it("that is empty takes nothing from the credential's, nor the other way round", () => {
    const { take } = makeLimits({ credential: 1, burst: 3, workspace: 1 }, () => 0)
    const left = (keyId: string) => take?.(caller(keyId)).headers.ratelimit
    assert.strictEqual(left("a"), `"default";r=2;t=1, "workspace";r=1;t=1`)
    assert.strictEqual(left("b"), `"default";r=2;t=1, "workspace";r=0;t=2`)
    assert.strictEqual(left("b"), `"default";r=2;t=1, "workspace";r=0;t=1`)
    const other = makeLimits({ credential: 1, burst: 1, workspace: 5 }, () => 0)
    const told = () => other.take?.(caller("a"))
    assert.isUndefined(told()?.refused)
    assert.deepStrictEqual(told()?.headers, {
      ratelimit: `"default";r=0;t=1, "workspace";r=9;t=1`,
      "ratelimit-policy": `"default";q=1;w=1, "workspace";q=10;w=2`
    })
  })

  it("is not there at a rate of 0", () => {
    assert.isUndefined(makeLimits({ credential: 0, workspace: 0 }, () => 0).take)
    assert.isUndefined(makeLimits({ credential: 0 }, () => 0).stranger)
    assert.deepStrictEqual(makeLimits({ credential: 5 }, () => 0).take?.(caller("a")).headers, {
      ratelimit: `"default";r=9;t=1`,
      "ratelimit-policy": `"default";q=10;w=2`
    })
  })
})

describe("a body, or an answer", async () => {
  const KiB = 1024
  const left = (taken: { readonly headers: Readonly<Record<string, string>> } | undefined) => taken?.headers.ratelimit

  it("costs one request more for each 64 KiB of it", () => {
    const { take } = makeLimits({ credential: 10, burst: 40 }, () => 0)
    assert.strictEqual(left(take?.(caller("a"), 64 * KiB - 1)), `"default";r=39;t=1`)
    assert.strictEqual(left(take?.(caller("a"), 64 * KiB)), `"default";r=37;t=1`)
    assert.strictEqual(left(take?.(caller("a"), 1024 * KiB)), `"default";r=20;t=2`)
  })

  it("that was larger than what is left makes the next request wait until the debt is paid", () => {
    let now = 0
    const { count, take } = makeLimits({ credential: 10, burst: 10, workspace: 1_000 }, () => now)
    take?.(caller("a"))
    count(caller("a"), 1024 * KiB)
    const waiting = take?.(caller("a"))
    assert.strictEqual(waiting?.refused?.retryAfterSeconds, 1)
    assert.strictEqual(left(waiting), `"default";r=0;t=1, "workspace";r=1983;t=1`)
    assert.isUndefined(take?.(caller("b")).refused)
    now = 799
    assert.isDefined(take?.(caller("a")).refused)
    now = 800
    assert.isUndefined(take?.(caller("a")).refused)
  })

  it("counts whether its length was announced or not, and whether it was of use or not", async () => {
    const by = world.issue(["run"])
    const { headers } = await larger("x".repeat(128 * KiB), by)
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from("x".repeat(128 * KiB)))
        controller.close()
      }
    })
    const next = await larger(chunks, by)
    assert.deepStrictEqual([headers, next.headers].map(remaining), ["97", "96"])
    // What came in chunks is counted when it has come.
    assert.strictEqual(remaining((await larger("{}", by)).headers), "93")
  })

  it("counts by its bytes, also where its pieces are refused before they are read as a text", async () => {
    const by = world.issue(["run"])
    const before = Number(remaining((await larger("{}", by)).headers))
    const chunks = ReadableStream.from([Buffer.from("€".repeat(64 * KiB)), Buffer.from([0xff])])
    assert.strictEqual((await larger(chunks, by)).status, 400)
    // One for the request, three for its 192 KiB, one for this.
    assert.strictEqual(Number(remaining((await larger("{}", by)).headers)), before - 5)
  })

  const world = new World()
  const base = await serving(world, RateLimit.layer({ credential: 1e-6, burst: 100 }))
  const remaining = (headers: Headers) => /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]
  const larger = (body: string | ReadableStream<Buffer>, { key }: { readonly key: string }) =>
    fetch(`${base}/v1/threads/${freshId("thread")}/raw`, {
      method: "POST",
      body,
      ...(typeof body === "string" ? {} : { duplex: "half" }),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
    })
})

describe("an address", () => {
  it.each([
    ["203.0.113.7", undefined, "203.0.113.7"],
    ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["::ffff:203.0.113.7", undefined, "203.0.113.7"],
    ["10.0.0.5", "198.51.100.1, 203.0.113.9", "10.0.0.5 for 203.0.113.9"],
    ["127.0.0.1", "203.0.113.9", "127.0.0.1 for 203.0.113.9"],
    ["127.0.0.1", "not an address", "127.0.0.1"],
    ["127.0.0.1", undefined, "127.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", undefined, "2001:db8:1:2::/64"],
    [undefined, "203.0.113.9", "unknown"]
  ])("%s that forwards for %s is counted as %s", (peer, forwarded, counted) => {
    // Again as the first time: what it says is remembered.
    assert.deepStrictEqual([addressFrom(peer, forwarded), addressFrom(peer, forwarded)], [counted, counted])
  })
})

describe("requests without a good credential", async () => {
  const world = new World()
  const base = await serving(world, RateLimit.layer({ credential: 2, burst: 5 }))
  let hosts = 0
  /** From where nothing has come yet. */
  const anywhere = () => `203.0.113.${++hosts}`
  const call = async (token: string | undefined, from: string) => {
    const { body, headers, status } = await send(`${base}/v1/administer`, {
      headers: { "x-forwarded-for": from, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    })
    if (status === 429) assert.strictEqual(headers.get("retry-after"), "1")
    return typeof body === "object" && body !== null && "error" in body
      ? `${status} ${String(body.error)}`
      : String(status)
  }
  const times = async (count: number, work: () => Promise<string>) => {
    const answers: Array<string> = []
    for (let i = 0; i < count; i++) answers.push(await work())
    return answers
  }

  it("are counted by address: the sixth at once is 429, and those of other addresses are not", async () => {
    const [here, there] = [anywhere(), anywhere()]
    const tokens = [undefined, "trp_x", "trl_x", "trd_x", generateKey().key]
    const answers = []
    for (const token of tokens) answers.push(await call(token, here))
    assert.deepStrictEqual(
      answers.map((answer) => answer.slice(0, 3)),
      ["401", "401", "403", "403", "401"]
    )
    assert.deepStrictEqual(await times(2, () => call(undefined, here)), ["429 rate_limited", "429 rate_limited"])
    assert.strictEqual(await call(undefined, there), "401 unauthenticated")
  })

  it("cost the database nothing once there are too many, nor a second time within a second", async () => {
    const [here, there] = [anywhere(), anywhere()]
    const before = world.lookups
    const again = generateKey().key
    assert.deepStrictEqual(await times(3, () => call(again, here)), Array(3).fill("401 unauthenticated"))
    assert.strictEqual(world.lookups, before + 1)
    await times(2, () => call(undefined, here))
    assert.deepStrictEqual(await times(3, () => call(generateKey().key, here)), Array(3).fill("429 rate_limited"))
    assert.strictEqual(world.lookups, before + 1)
    world.now += 1_000
    assert.strictEqual(await call(again, there), "401 unauthenticated")
    assert.strictEqual(world.lookups, before + 2)
  })

  it("keep nobody out who has one, also where all credentials have just been forgotten", async () => {
    const [here, there] = [anywhere(), anywhere()]
    const [seen, unseen] = [world.issue(["admin"]).key, world.issue(["admin"]).key]
    assert.strictEqual(await call(seen, here), "200")
    await times(6, () => call(undefined, here))
    assert.strictEqual(await call(seen, here), "200")
    world.revision++
    assert.strictEqual(await call(seen, here), "200")
    assert.strictEqual(await call(unseen, here), "429 rate_limited")
    assert.strictEqual(await call(unseen, there), "200")
  })

  it("do not count where the credential turns out to be good", async () => {
    const here = anywhere()
    const answers: Array<string> = []
    for (let i = 0; i < 20; i++) answers.push(await call(world.issue(["admin"]).key, here))
    assert.deepStrictEqual(answers, Array(20).fill("200"))
  })

  it("of a key that was revoked are refused again and again without a look", async () => {
    const here = anywhere()
    const made = world.issue(["admin"])
    assert.strictEqual(await call(made.key, here), "200")
    world.change(made, { revoked: true })
    world.revision++
    const before = world.lookups
    assert.deepStrictEqual(await times(4, () => call(made.key, here)), Array(4).fill("401 unauthenticated"))
    assert.strictEqual(world.lookups, before + 1)
  })
})
