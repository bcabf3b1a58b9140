/** Who may call: keys, leases, scopes; and how soon a change of a key is felt. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeCredentials } from "../../http/Credentials.ts"
import { Keys, type StoredKey } from "../../src/keys/Keys.ts"
import { generateKey, hashKey, parseKey, sameHash } from "../../src/keys/keyText.ts"
import { makeLimits, RateLimit } from "../../http/RateLimit.ts"
import { raw, send } from "./client.ts"
import { serve, serving, World } from "./tiny.ts"

const world = new World()
const base = await serving(world)
const get = (path: string, authorization?: string) =>
  send(base + path, { headers: authorization === undefined ? {} : { authorization } })

const thread = "thr_01h455vb4pex5vsknk084sn02q"

describe("a key", () => {
  it("has the form trp_ and 8, _ and 38 characters, and is read back by its checksum", () => {
    const seen = new Set<string>()
    for (let i = 0; i < 500; i++) {
      const made = generateKey()
      assert.match(made.key, /^trp_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
      assert.strictEqual(parseKey(made.key), made.publicPart)
      assert.strictEqual(made.hash, hashKey(made.key))
      seen.add(made.key)
    }
    assert.strictEqual(seen.size, 500)
  })

  it("with one character changed, left out or added is no key", () => {
    const { key } = generateKey()
    for (let i = 4; i < key.length; i++) {
      if (key[i] === "_") continue
      const other = key[i] === "a" ? "b" : "a"
      assert.isUndefined(parseKey(key.slice(0, i) + other + key.slice(i + 1)), String(i))
    }
    assert.isUndefined(parseKey(key.slice(0, -1)))
    assert.isUndefined(parseKey(`${key}a`))
    assert.isUndefined(parseKey(""))
  })

  it("is compared by its whole hash", () => {
    const [a, b] = [hashKey("a"), hashKey("b")]
    assert.isTrue(sameHash(a, a))
    assert.isFalse(sameHash(a, b))
    assert.isFalse(sameHash(a, a.slice(2)))
  })
})

interface KeyWorld {
  readonly credentials: Effect.Success<ReturnType<typeof makeCredentials>>
  readonly one: () => string
  readonly revoke: (key: string) => void
  /** What a revoke or a disable does to the revision. */
  readonly change: () => void
  readonly clock: { at: number }
  /** Uses that were written. Milliseconds. */
  readonly written: Array<number>
}

/** Credentials over keys that `one` makes, at a clock that is moved by hand. */
const withKeys = (check: (world: KeyWorld) => Effect.Effect<void, unknown>) => {
  const made = new Map<string, ReturnType<typeof generateKey>>()
  const revoked = new Set<string>()
  const one = () => {
    const key = generateKey()
    made.set(key.publicPart, key)
    return key.key
  }
  const revoke = (key: string) => void revoked.add(parseKey(key) ?? "")
  const stored = (publicPart: string): StoredKey | undefined => {
    const key = made.get(publicPart)
    return key === undefined
      ? undefined
      : {
          id: `key_${publicPart}`,
          workspace: "wsp_1",
          hash: key.hash,
          scopes: ["read"],
          principal: "api_key",
          revoked: revoked.has(publicPart),
          identityDisabled: false
        }
  }
  let revision = 0
  const clock = { at: 1_000_000 }
  const written: Array<number> = []
  const keys = Keys.of({
    findByPublic: (part) => Effect.succeed(stored(part)),
    touch: (uses) => Effect.sync(() => void written.push(...uses.map(({ at }) => at)))
  })
  return Effect.runPromise(
    Effect.gen(function* () {
      const credentials = yield* makeCredentials({ now: () => clock.at, revision: () => revision })
      yield* check({ credentials, one, revoke, change: () => void revision++, clock, written })
    }).pipe(Effect.provideService(Keys, keys), Effect.scoped)
  )
}

describe("a key that was good before some key changed", () => {
  it("stays familiar while it is among the ten thousand that were used last, whatever came before", () =>
    withKeys(
      Effect.fnUntraced(function* ({ change, credentials, one }) {
        const first = Array.from({ length: 10_000 }, one)
        for (const key of first) yield* credentials.find(key)
        change()
        const later = one()
        yield* credentials.find(later)
        change()
        yield* credentials.find(later)
        assert.deepStrictEqual(
          [first[0], first.at(-1), later].map((key) => credentials.familiar(key ?? "")),
          [false, true, true]
        )
      })
    ))

  it("stays familiar by the connection that goes on bringing it, however many others came meanwhile", () =>
    withKeys(
      Effect.fnUntraced(function* ({ change, credentials, one }) {
        const [key, connection] = [one(), {}]
        yield* credentials.find(key)
        for (let i = 0; i < 10_000; i++) {
          credentials.remembered(key, connection)
          yield* credentials.find(one())
        }
        assert.isDefined(credentials.remembered(key, connection))
        change()
        assert.isUndefined(credentials.remembered(key, connection))
        assert.isTrue(credentials.familiar(key))
      })
    ))

  it("is familiar no more once it is found to be none, whatever connection brings it", () =>
    withKeys(
      Effect.fnUntraced(function* ({ change, credentials, one, revoke }) {
        const [key, connection] = [one(), {}]
        yield* credentials.find(key)
        credentials.remembered(key, connection)
        revoke(key)
        change()
        for (let i = 0; i < 3; i++) {
          assert.isUndefined(credentials.remembered(key, connection))
          assert.strictEqual(credentials.familiar(key), i === 0)
          assert.isUndefined(yield* credentials.find(key))
        }
      })
    ))

  it("is looked up anew by the connection that brought it, too", () =>
    withKeys(
      Effect.fnUntraced(function* ({ change, credentials, one }) {
        const [key, connection] = [one(), {}]
        yield* credentials.find(key)
        assert.isDefined(credentials.remembered(key, connection))
        assert.isDefined(credentials.remembered(key, connection))
        change()
        assert.isUndefined(credentials.remembered(key, connection))
        yield* credentials.find(key)
        assert.isDefined(credentials.remembered(key, connection))
      })
    ))
})

it("a use is written a minute after the last one that was, also where everything was forgotten meanwhile", () =>
  withKeys(
    Effect.fnUntraced(function* ({ change, clock, credentials, one, written }) {
      const [key, connection, began] = [one(), {}, clock.at]
      yield* credentials.find(key)
      clock.at += 59_000
      change()
      yield* credentials.find(key)
      for (; clock.at <= began + 118_000; clock.at += 1_000) credentials.remembered(key, connection)
      yield* Effect.sync(() => written).pipe(
        Effect.delay("100 millis"),
        Effect.repeat({ until: (uses) => uses.length >= 1, times: 100 })
      )
      assert.deepStrictEqual(written, [began + 60_000])
    })
  ))

it("a connection that brings another key is whoever that key is", () =>
  withKeys(
    Effect.fnUntraced(function* ({ credentials, one }) {
      const [first, second, stranger, connection] = [one(), one(), one(), {}]
      for (const key of [first, second]) yield* credentials.find(key)
      const whose = (key: string) => credentials.remembered(key, connection)?.caller.keyId
      assert.deepStrictEqual(
        [first, second, stranger, first].map(whose),
        [first, second, undefined, first].map((key) => key && `key_${parseKey(key)}`)
      )
    })
  ))

describe("a request", () => {
  it("without a credential is 401 with a bare challenge", async () => {
    for (const authorization of [undefined, "", "Basic dXNlcjpwYXNz", "Bearer", "Bearer  ", "Token x", "Bearer a b"]) {
      const answer = await get("/v1/refuse", authorization)
      assert.strictEqual(answer.status, 401, String(authorization))
      assert.deepInclude(answer.body, { error: "unauthenticated", code: "missing_credential" })
      assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
    }
  })

  it("with a credential that is none is 401, and the credential is not repeated", async () => {
    const stranger = generateKey().key
    for (const token of [stranger, "trp_x", "secret-thing", `${stranger}x`]) {
      const answer = await get("/v1/refuse", `Bearer ${token}`)
      assert.strictEqual(answer.status, 401)
      assert.deepInclude(answer.body, { error: "unauthenticated", code: "invalid_credential" })
      assert.strictEqual(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
      assert.notInclude(answer.text, token)
    }
  })

  it("with the right public part and another secret is 401", async () => {
    const made = world.issue(["read"])
    world.change(made, { hash: hashKey("other") })
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 401)
  })

  it("takes the scheme in any case", async () => {
    const { key } = world.issue(["read"])
    assert.strictEqual((await get("/v1/refuse", `bearer  ${key}`)).status, 429)
  })

  it("without the scope of the endpoint is 403 and does nothing", async () => {
    const { key } = world.issue(["read"])
    const answer = await get("/v1/administer", `Bearer ${key}`)
    assert.deepStrictEqual(
      [answer.status, answer.body],
      [
        403,
        { error: "permission_denied", code: "missing_scope", message: "this credential does not have the scope admin" }
      ]
    )
    const body = await send(`${base}/v1/threads/${thread}/notes`, {
      method: "POST",
      body: "not json",
      headers: { authorization: `Bearer ${key}` }
    })
    assert.strictEqual(body.status, 403)
    assert.strictEqual((await get("/v1/administer", `Bearer ${world.issue(["admin"]).key}`)).status, 200)
  })

  it("with an agent's lease is 403 where only keys are taken, and 401 where leases are", async () => {
    const refused = await get(`/v1/threads/${thread}/notes`, "Bearer trl_whatever")
    assert.deepInclude(refused.body, { error: "credential_not_accepted" })
    assert.strictEqual(refused.status, 403)
    const unknown = await send(`${base}/v1/threads/${thread}/notes`, {
      method: "POST",
      body: "{}",
      headers: { authorization: "Bearer trl_whatever" }
    })
    assert.strictEqual(unknown.status, 401)
  })

  it("is 503 while an unseen key cannot be looked up, and goes on for a key that was seen", async () => {
    const [seen, unseen] = [world.issue(["read"]), world.issue(["read"])]
    assert.strictEqual((await get("/v1/refuse", `Bearer ${seen.key}`)).status, 429)
    world.down = true
    assert.strictEqual((await get("/v1/refuse", `Bearer ${unseen.key}`)).status, 503)
    assert.strictEqual((await get("/v1/refuse", `Bearer ${seen.key}`)).status, 429)
    world.down = false
    assert.strictEqual((await get("/v1/refuse", `Bearer ${unseen.key}`)).status, 429)
  })
})

describe("a key that was seen", () => {
  it("is looked up once, until the auth revision changes", async () => {
    const made = world.issue(["read"])
    const call = () => get("/v1/refuse", `Bearer ${made.key}`)
    await call()
    const before = world.lookups
    await call()
    await call()
    assert.strictEqual(world.lookups, before)
    world.revision++
    await call()
    assert.strictEqual(world.lookups, before + 1)
  })

  it("is refused with the next request once it is revoked", async () => {
    const made = world.issue(["read"])
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 429)
    world.change(made, { revoked: true })
    world.revision++
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 401)
  })

  it("is refused at the moment it expires", async () => {
    const made = world.issue(["read"], { expiresAt: world.now + 1000 })
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 429)
    world.now += 1000
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 401)
  })

  it("is 403 everywhere once its identity is disabled", async () => {
    const made = world.issue(["read"], { identity: "ann" })
    assert.strictEqual((await get("/v1/refuse", `Bearer ${made.key}`)).status, 429)
    world.change(made, { identityDisabled: true })
    world.revision++
    const answer = await get("/v1/refuse", `Bearer ${made.key}`)
    assert.deepStrictEqual(
      [answer.status, answer.body],
      [403, { error: "identity_disabled", message: "the identity of this credential is disabled" }]
    )
  })
})

it("keys on one connection, as a proxy sends them, are told apart", async () => {
  const [reader, admin] = [world.issue(["read"]), world.issue(["admin"])]
  const stranger = generateKey().key
  const order = [reader.key, admin.key, stranger, reader.key, reader.key, admin.key, `${admin.key}x`, admin.key]
  const lines = order.map(
    (key, i) =>
      `GET /v1/administer HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${i === order.length - 1 ? "Connection: close\r\n" : ""}\r\n`
  )
  const answers = await raw(base, lines.join(""), false)
  assert.deepStrictEqual(
    [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
    ["403", "200", "401", "403", "403", "200", "401", "200"]
  )
})

describe("the rate limit", async () => {
  const limited = new World()
  const limitedBase = await serving(limited, RateLimit.layer({ credential: 1, burst: 3 }))

  it("lets a burst through and then answers 429 with the seconds to wait", async () => {
    const { key } = limited.issue(["read"])
    const call = () => send(`${limitedBase}/v1/refuse?no=1`, { headers: { authorization: `Bearer ${key}` } })
    const answers = [await call(), await call(), await call(), await call()]
    assert.deepStrictEqual(
      answers.map((answer) => answer.status),
      [400, 400, 400, 429]
    )
    assert.deepStrictEqual(
      answers.map((answer) => answer.headers.get("ratelimit-policy")),
      Array(4).fill('"default";q=3;w=3')
    )
    assert.match(answers[0]!.headers.get("ratelimit") ?? "", /^"default";r=2;t=1$/)
    assert.deepStrictEqual(answers[3]!.body, {
      error: "rate_limited",
      message:
        "at most 1 requests a second with one credential; a body or an answer counts as one more for each 64 KiB of it",
      retryAfterSeconds: 1
    })
    assert.strictEqual(answers[3]!.headers.get("retry-after"), "1")
  })

  it("refills with time, each credential for itself", () => {
    let now = 0
    const { take: taken } = makeLimits({ credential: 10, burst: 2 }, () => now)
    const take = (keyId: string) => taken?.({ keyId, workspace: "w" }) ?? assert.fail("there is a limit")
    assert.isUndefined(take("a").refused)
    assert.isUndefined(take("a").refused)
    assert.isDefined(take("a").refused)
    assert.isUndefined(take("b").refused)
    now = 100
    assert.isUndefined(take("a").refused)
    assert.isDefined(take("a").refused)
  })
})

it("a use is written once a minute and key, when the server stops at the latest", async () => {
  const world = new World()
  const made = world.issue(["read"])
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const url = yield* serve(world)
        const call = Effect.promise(() =>
          send(`${url}/v1/refuse`, { headers: { authorization: `Bearer ${made.key}` } })
        )
        yield* call
        yield* call
        world.now += 59_999
        yield* call
        world.now += 1
        yield* call
      })
    )
  )
  assert.isAtMost(world.uses.length, 2)
  assert.strictEqual(world.uses.at(-1)?.at, world.now)
})
