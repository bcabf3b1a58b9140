/** The hooks of a profile: their ids, their order and their limits. */
import { assert, describe, it } from "@effect/vitest"
import { freshId } from "../../src/seed.ts"
import { startServer } from "../setup/server.ts"
import { absent, assertRefusedAt as refusedAt } from "./refusals.ts"
import { hook, profileStand, url } from "./profileFixture.ts"

const { agent, connection, create, patch, post, server, turnsOf } = await profileStand()

describe("the hooks of a profile", () => {
  it("get ids, keep their order and what was said, and are the same to turns", async () => {
    const connectionId = await connection()
    const agentId = await agent()
    const hooks = [
      hook({
        point: "before_turn_start",
        processor: { ...url, url: "https://hooks.example.com/judge?tenant=a", connectionId },
        timeoutMs: 1_000,
        onError: "ask",
        onTimeout: "fail"
      }),
      hook({
        match: { tools: ["mail.*", "*"], conditions: [{ path: "/to", op: "in", value: ["a", { b: null }] }] },
        processor: { type: "agent", agentId, instructions: "Be\nstrict." }
      }),
      hook({
        point: "after_model_response",
        match: { conditions: [{ path: "/content/0/text", op: "contains", value: "\u0000 \ud800" }] },
        asyncTimeoutMs: 1_000,
        enabled: false
      })
    ]
    const profile = await create({ hooks })
    assert.deepStrictEqual(
      profile.hooks.map(({ id: _, ...rest }: { id: string }) => rest),
      hooks.map((one) => ({ enabled: true, ...one }))
    )
    for (const { id } of profile.hooks) assert.match(id, /^hook_/)
    assert.strictEqual(new Set(profile.hooks.map(({ id }: { id: string }) => id)).size, 3)
    assert.deepStrictEqual((await turnsOf(profile.id, 1)).hooks, profile.hooks)
    assert.deepStrictEqual((await server.alpha.get(`/v1/profiles/${profile.id}/versions/1`)).body.profile, profile)
  })

  it("keep their ids through a patch that carries them, in whatever order", async () => {
    const profile = await create({ hooks: [hook({ name: "a" }), hook({ name: "b" })] })
    const [a, b] = profile.hooks
    const next = await patch(profile.id, { hooks: [{ ...b, name: "B" }, hook({ name: "c" }), a] })
    assert.deepStrictEqual(
      next.hooks.map(({ name }: { name: string }) => name),
      ["B", "c", "a"]
    )
    assert.deepStrictEqual([next.hooks[0].id, next.hooks[2].id], [b.id, a.id])
    assert.notInclude([a.id, b.id], next.hooks[1].id)
    assert.strictEqual(next.version, 2)
  })

  it("make no version when nothing of them changes, and are gone after a patch to null", async () => {
    const profile = await create({ hooks: [hook({ match: { tools: ["a.*"] } })] })
    const [{ enabled: _, ...same }] = profile.hooks
    assert.strictEqual((await patch(profile.id, { hooks: profile.hooks })).version, 1)
    assert.strictEqual((await patch(profile.id, { hooks: [same], name: "P" })).version, 1)
    assert.deepStrictEqual((await patch(profile.id, { hooks: null })).hooks, [])
  })

  it("cannot carry an id that the latest version has not", async () => {
    refusedAt(await post({ hooks: [hook({ id: freshId("hook") })] }), 400, "invalid_request", "hooks[0].id")
    const one = await create({ hooks: [hook()] })
    const other = await create({ hooks: [hook()] })
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${one.id}`, { hooks: [hook(), other.hooks[0]] }),
      400,
      "invalid_request",
      "hooks[1].id"
    )
    await patch(one.id, { hooks: [] })
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${one.id}`, { hooks: one.hooks }),
      400,
      "invalid_request",
      "hooks[0].id"
    )
    refusedAt(
      await server.alpha.patch(`/v1/profiles/${other.id}`, { hooks: [other.hooks[0], other.hooks[0]] }),
      400,
      "invalid_request",
      "hooks[1].id"
    )
  })

  it("are at most 16", async () => {
    assert.lengthOf((await create({ hooks: Array(16).fill(hook()) })).hooks, 16)
    refusedAt(await post({ hooks: Array(17).fill(hook()) }), 400, "invalid_request", "hooks")
  })

  const agentId = absent("agt_")
  const condition = { path: "/a", op: "eq", value: 1 }
  const ofLength = (bytes: number) => `https://hooks.example.com/${"p".repeat(bytes - 26)}`
  for (const [what, most, past, path] of [
    ["a name", { name: "n".repeat(128) }, { name: "n".repeat(129) }, "name"],
    [
      "conditions",
      { match: { conditions: Array(8).fill(condition) } },
      { match: { conditions: Array(9).fill(condition) } },
      "match.conditions"
    ],
    [
      "a condition's value",
      { match: { conditions: [{ ...condition, value: "v".repeat(512) }] } },
      { match: { conditions: [{ ...condition, value: "v".repeat(513) }] } },
      "match.conditions[0].value"
    ],
    [
      "selectors",
      { match: { tools: Array(32).fill("a.*") } },
      { match: { tools: Array(33).fill("a.*") } },
      "match.tools"
    ],
    ["a selector", { match: { tools: ["s".repeat(176)] } }, { match: { tools: ["s".repeat(177)] } }, "match.tools[0]"],
    [
      "a url",
      { processor: { type: "url", url: ofLength(2048) } },
      { processor: { type: "url", url: ofLength(2049) } },
      "processor.url"
    ],
    ["a url's timeoutMs", { processor: url, timeoutMs: 30_000 }, { processor: url, timeoutMs: 30_001 }, "timeoutMs"],
    ["a url's least timeoutMs", { processor: url, timeoutMs: 1_000 }, { processor: url, timeoutMs: 999 }, "timeoutMs"],
    ["an asyncTimeoutMs", { asyncTimeoutMs: 86_400_000 }, { asyncTimeoutMs: 86_400_001 }, "asyncTimeoutMs"],
    ["the least asyncTimeoutMs", { asyncTimeoutMs: 1_000 }, { asyncTimeoutMs: 999 }, "asyncTimeoutMs"]
  ] as const) {
    it(`have ${what} at its limit and not past it`, async () => {
      await create({ hooks: [hook(most)] })
      refusedAt(await post({ hooks: [hook(), hook(past)] }), 400, "invalid_request", `hooks[1].${path}`)
    })
  }

  it("have an agent's time and instructions at their limits and not past them", async () => {
    const processor = { type: "agent", agentId: await agent() }
    await create({ hooks: [hook({ processor: { ...processor, instructions: "i".repeat(4096) }, timeoutMs: 300_000 })] })
    refusedAt(
      await post({ hooks: [hook({ processor, timeoutMs: 300_001 })] }),
      400,
      "invalid_request",
      "hooks[0].timeoutMs"
    )
    refusedAt(
      await post({ hooks: [hook({ processor: { ...processor, instructions: "i".repeat(4097) } })] }),
      400,
      "invalid_request",
      "hooks[0].processor.instructions"
    )
  })

  for (const [what, fields, path] of [
    ["no name", { name: undefined }, "name"],
    ["an unknown point", { point: "before_everything" }, "point"],
    ["an unknown field", { priority: 1 }, "priority"],
    ["an unknown processor", { processor: { type: "email" } }, "processor"],
    ["a processor's field of another type", { processor: { type: "client", agentId } }, "processor.agentId"],
    ["a url that is none", { processor: { type: "url", url: "hooks.example.com" } }, "processor.url"],
    ["a url of another scheme", { processor: { type: "url", url: "ftp://hooks.example.com" } }, "processor.url"],
    ["a url with credentials", { processor: { type: "url", url: "https://a:b@hooks.example.com" } }, "processor.url"],
    ["a url with a fragment", { processor: { type: "url", url: "https://hooks.example.com/#a" } }, "processor.url"],
    ["a url of cloud metadata", { processor: { type: "url", url: "http://169.254.169.254/latest" } }, "processor.url"],
    ["a connection's id of another form", { processor: { ...url, connectionId: "c" } }, "processor.connectionId"],
    ["selectors where no tool is called", { point: "before_turn_start", match: { tools: ["*"] } }, "match.tools"],
    ["selectors of none", { match: { tools: [] } }, "match.tools"],
    ["an empty selector", { match: { tools: [""] } }, "match.tools[0]"],
    ["an unknown op", { match: { conditions: [{ path: "/a", op: "matches", value: "x" }] } }, "match.conditions[0].op"],
    ["a path that is no pointer", { match: { conditions: [{ ...condition, path: "a" }] } }, "match.conditions[0].path"],
    ["an unknown part of match", { match: { threads: [] } }, "match.threads"],
    ["a time for an answer of a client", { timeoutMs: 1_000 }, "timeoutMs"],
    ["half a millisecond", { asyncTimeoutMs: 1_000.5 }, "asyncTimeoutMs"],
    ["an unknown onError", { onError: "defer" }, "onError"],
    ["an unknown onTimeout", { onTimeout: "ask" }, "onTimeout"],
    ["null for a field", { match: null }, "match"],
    ["an enabled that is neither", { enabled: "yes" }, "enabled"],
    ["an id of another form", { id: "h1" }, "id"]
  ] as const) {
    it(`have not ${what}`, async () =>
      refusedAt(await post({ hooks: [hook(fields)] }), 400, "invalid_request", `hooks[0].${path}`))
  }

  it("have https URLs of public hosts where private networks are closed", async () => {
    const closed = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      const send = (target: string) =>
        closed.alpha.post("/v1/profiles", {
          name: "P",
          models: ["@a"],
          hooks: [hook(), hook({ processor: { type: "url", url: target } })]
        })
      const made = await send("https://hooks.example.com/")
      assert.strictEqual(made.status, 201, made.text)
      for (const target of [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://0x7f000001/"
      ]) {
        refusedAt(await send(target), 400, "invalid_request", "hooks[1].processor.url")
        refusedAt(
          await closed.alpha.patch(`/v1/profiles/${made.body.profile.id}`, {
            hooks: [hook({ processor: { type: "url", url: target } })]
          }),
          400,
          "invalid_request",
          "hooks[0].processor.url"
        )
      }
    } finally {
      await closed.stop()
    }
  })

  it("take effect once for an Idempotency-Key, with the same ids", async () => {
    const send = () =>
      server.alpha.post("/v1/profiles", { name: "P", models: ["@a"], hooks: [hook()] }, { "idempotency-key": "hooks" })
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual([a.text, b.headers.get("idempotency-replayed")], [b.text, "true"])
  })
})
