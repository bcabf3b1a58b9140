/**
 * The document says what the server holds requests to: where one property decides about another, where a bound is no
 * plain minimum.
 */
import { assert, describe, it } from "@effect/vitest"
import { AnyEvent } from "../../src/domain/event.ts"
import { ThreadEvent } from "../../src/threads/threadEvent.ts"
import { document, headersOf, isIn, objectAt, operations, schemaOf, schemas, titleOf } from "./document.ts"
import { faults, isObject, type Schema } from "./jsonSchema.ts"
import { isOfMeaning } from "./meaning.ts"

const fits = (schema: Schema, value: unknown) => faults(schema, value, schemas).length === 0
const find = (title: string) => {
  const found = operations.find((operation) => titleOf(operation) === title)
  assert(found !== undefined, `no operation ${title}`)
  return found
}

const condition = (op: string, value?: unknown) => ({ path: "/a", op, ...(value === undefined ? {} : { value }) })
const hook = (fields: object) => ({
  name: "H",
  point: "before_tool_call",
  processor: { type: "url", url: "https://a.example/" },
  ...fields
})
const secret = (bytes: number) => ({ signingSecret: `whsec_${Buffer.alloc(bytes, 7).toString("base64")}` })
const images = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ type: "image", imageId: `img_${String(i).padStart(64, "0")}` }))
const text = [{ type: "text", text: "t" }]
const tool = (fields: object) => ({ name: "t", inputSchema: { type: "object" }, ...fields })
const connection = (fields: object) => ({ provider: "p", name: "C", secret: { token: "t" }, ...fields })

/** A shape, what fits it, and what comes just after that. */
const rules: ReadonlyArray<
  readonly [shape: string, rule: string, allowed: ReadonlyArray<unknown>, forbidden: ReadonlyArray<unknown>]
> = [
  [
    "Condition",
    "the op decides about the value",
    [
      condition("exists"),
      condition("exists", false),
      condition("eq", null),
      condition("in", [1]),
      condition("startsWith", "a"),
      condition("lt", 1),
      condition("gte", "b"),
      condition("contains", {})
    ],
    [
      condition("eq"),
      condition("exists", "yes"),
      condition("in", []),
      condition("in", "a"),
      condition("endsWith", 1),
      condition("lte", true),
      condition("gt")
    ]
  ],
  [
    "HookInput",
    "the processor decides about timeoutMs",
    [
      hook({ timeoutMs: 30_000 }),
      hook({ timeoutMs: 1_000 }),
      hook({ timeoutMs: 300_000, processor: { type: "agent", agentId: `agt_${"0".repeat(26)}` } }),
      hook({ processor: { type: "client" } })
    ],
    [
      hook({ timeoutMs: 30_001 }),
      hook({ timeoutMs: 999 }),
      hook({ timeoutMs: 300_001, processor: { type: "agent", agentId: `agt_${"0".repeat(26)}` } }),
      hook({ timeoutMs: 1_000, processor: { type: "client" } })
    ]
  ],
  [
    "HookInput",
    "the point decides about match.tools",
    [
      hook({ match: { tools: ["a.*"] } }),
      hook({ match: { tools: ["*"] }, point: "after_tool_result" }),
      hook({ match: { conditions: [] }, point: "before_turn_start" })
    ],
    [
      hook({ match: { tools: ["a.*"] }, point: "before_turn_start" }),
      hook({ match: { tools: ["*"] }, point: "after_model_response" })
    ]
  ],
  [
    "HookSample",
    "the data are of the hook's point",
    [
      {
        hook: hook({ point: "before_turn_start" }),
        data: { point: "before_turn_start", content: text, submitMode: "queue" }
      }
    ],
    [{ hook: hook({}), data: { point: "before_turn_start", content: text, submitMode: "queue" } }]
  ],
  [
    "WaitDecision",
    "a deny has no rewrite, and is of one call",
    [
      { type: "decision", decision: "deny", scope: "once" },
      { type: "decision", decision: "allow", scope: "thread", rewrite: { toolInput: {} } }
    ],
    [
      { type: "decision", decision: "deny", scope: "thread" },
      { type: "decision", decision: "deny", rewrite: { toolInput: {} } }
    ]
  ],
  [
    "HookWaitDecision",
    "a deny has no rewrite, and is of one call",
    [{ decision: "deny", scope: "once" }],
    [
      { decision: "deny", scope: "thread" },
      { decision: "deny", rewrite: { content: text } }
    ]
  ],
  [
    "DeliveryDecision",
    "a deny has no rewrite",
    [{ decision: "deny", reason: "r" }],
    [{ decision: "deny", rewrite: { content: text } }]
  ],
  [
    "RoleQuestion",
    "either roleIds or profileId",
    [
      { tool: "a.b", roleIds: [] },
      { tool: "a.b", profileId: `prof_${"0".repeat(26)}` }
    ],
    [{ tool: "a.b" }, { tool: "a.b", roleIds: [], profileId: `prof_${"0".repeat(26)}` }]
  ],
  [
    "ConnectionSecret",
    "24 to 64 bytes, and none beside them",
    [secret(24), secret(25), secret(26), secret(62), secret(63), secret(64)],
    [
      secret(23),
      secret(65),
      { signingSecret: `${secret(24).signingSecret}=` },
      { signingSecret: secret(25).signingSecret.replace(/.==$/, "B==") }
    ]
  ],
  [
    "ConnectionSecret",
    "the previous one only beside a new one",
    [{ ...secret(32), previousSigningSecret: secret(32).signingSecret }],
    [{ token: "t", previousSigningSecret: secret(32).signingSecret }]
  ],
  [
    "ConnectionInput",
    "a secret that is sent knows where to",
    [
      connection({ provider: "openai" }),
      connection({ baseUrl: "https://a.example" }),
      connection({ allowedHosts: ["a.example"] }),
      connection({ secret: secret(32) })
    ],
    [connection({})]
  ],
  [
    "MessageInput",
    "a steer has no model of its own",
    [
      { content: text, mode: "queue", model: "a/b" },
      { content: text, mode: "steer" }
    ],
    [{ content: text, mode: "steer", model: "a/b" }]
  ],
  ["MessageContent", "20 images", [images(20)], [images(21)]],
  [
    "ProfileInput",
    "families that this server has",
    [
      {
        name: "P",
        models: ["a/b"],
        families: ["thread", "agents", "connections", "memory", "feeds", "schedules", "subscriptions"]
      }
    ],
    [{ name: "P", models: ["a/b"], families: ["sandbox"] }]
  ],
  [
    "ClientTool",
    "0, or 10 seconds to a day",
    [tool({ timeoutMs: 0 }), tool({ timeoutMs: 10_000 }), tool({ timeoutMs: 86_400_000 })],
    [tool({ timeoutMs: 1 }), tool({ timeoutMs: 9_999 }), tool({ timeoutMs: 86_400_001 })]
  ],
  [
    "ClientTool",
    "an input is an object",
    [tool({ inputSchema: { type: "object", properties: {} } }), tool({ outputSchema: {} })],
    [
      tool({ inputSchema: true }),
      tool({ inputSchema: {} }),
      tool({ inputSchema: { type: "string" } }),
      tool({ outputSchema: [] })
    ]
  ],
  [
    "ToolsetPatch",
    "fields of one kind",
    [{ url: "https://a.example/x" }, { tools: [tool({})], trusted: null }],
    [
      { url: "https://a.example/", tools: [tool({})] },
      { trusted: true, tools: [tool({})] }
    ]
  ],
  [
    "ToolsetPatch",
    "a URL without credentials, query and fragment",
    [{ url: "HTTP://a.example:1/@x" }, { url: "https://a.example" }],
    [
      { url: "ftp://a.example/" },
      { url: "https:///a" },
      { url: "https://u:p@a.example/" },
      { url: "https://a.example/?q" },
      { url: "https://a.example/#f" },
      { url: "https://a.example/a b" },
      { url: "https://a.example\\b" }
    ]
  ],
  [
    "ApiKeyInput",
    "a time that is on the clock and in the calendar",
    ["2030-02-28T23:59:59Z", "2030-01-01T00:00:00.123456789+23:59"].map((expiresAt) => ({
      name: "K",
      scopes: ["read"],
      expiresAt
    })),
    [
      "x",
      "2030-02-30T00:00:00Z",
      "2030-13-01T00:00:00Z",
      "2030-01-01T25:00:00Z",
      "2030-01-01T00:00:60Z",
      "2030-01-01T00:00:00+24:00",
      "2030-01-01"
    ].map((expiresAt) => ({ name: "K", scopes: ["read"], expiresAt }))
  ]
]

describe("the document says of", () => {
  it.each(rules)("%s: %s", (shape, _, allowed, forbidden) => {
    const schema = schemas[shape]
    assert(schema !== undefined, `no component ${shape}`)
    assert.deepStrictEqual(
      allowed.filter((value) => !fits(schema, value)),
      [],
      "allowed"
    )
    assert.deepStrictEqual(
      forbidden.filter((value) => fits(schema, value)),
      [],
      "forbidden"
    )
  })

  it.each(["/v1/events/stream", "/v1/agents/{agentId}/events/stream", "/v1/threads/{threadId}/events/stream"])(
    "GET %s: frames by their names",
    (path) => {
      const types = find(`GET ${path}`)
        .parameters.filter(isIn("query"))
        .find(({ name }) => name === "types")
      assert(types !== undefined)
      assert.deepStrictEqual(
        ["event", "ready,delta,bye"].filter((value) => !fits(schemaOf(types), value)),
        []
      )
      assert.deepStrictEqual(
        ["", "x", "event,", "event,x", " event"].filter((value) => fits(schemaOf(types), value)),
        []
      )
    }
  )

  it("every list what is in it", () => {
    const without: Array<string> = []
    const walk = (value: unknown, path: string): void => {
      if (Array.isArray(value)) for (const [index, item] of value.entries()) walk(item, `${path}/${index}`)
      if (!isObject(value)) return
      if (value.type === "array" && !("items" in value)) without.push(path)
      for (const [key, item] of Object.entries(value)) walk(item, `${path}/${key}`)
    }
    walk(document, "")
    assert.deepStrictEqual(without, [])
  })

  it("an ETag where one is sent, and nowhere else", () => {
    const tagged = operations.flatMap((operation) =>
      Object.entries(operation.responses)
        .filter(([, response]) => headersOf(response).some(([name]) => name === "ETag"))
        .map(([status]) => `${status} ${titleOf(operation)}`)
    )
    const resources = [
      ["agents", "agentId"],
      ["connections", "connectionId"],
      ["feeds", "feedId"],
      ["profiles", "profileId"],
      ["roles", "roleId"],
      ["agents/{agentId}/schedules", "scheduleId"],
      ["toolsets", "toolsetId"],
      ["threads", "threadId"],
      ["webhooks", "webhookId"]
    ]
    assert.sameMembers(tagged, [
      ...resources.flatMap(([path, id]) => [
        `201 POST /v1/${path}`,
        `200 GET /v1/${path}/{${id}}`,
        `200 PATCH /v1/${path}/{${id}}`
      ]),
      ...["/v1/agents/{agentId}/memory/entry", "/v1/memory/entry"].flatMap((path) => [
        `200 GET ${path}`,
        `200 PUT ${path}`,
        `201 PUT ${path}`
      ]),
      "200 GET /v1/images/{imageId}",
      "304 GET /v1/images/{imageId}",
      "200 GET /v1/approval-policy",
      "200 PUT /v1/approval-policy",
      "200 GET /v1/profiles/{profileId}/versions/{version}",
      "200 POST /v1/toolsets/{toolsetId}/refresh",
      "200 POST /v1/threads/{threadId}/cancel",
      "200 POST /v1/threads/{threadId}/compact",
      "200 POST /v1/threads/{threadId}/archive",
      "200 POST /v1/feeds/{feedId}/archive",
      "201 POST /v1/agents/{agentId}/subscriptions",
      "200 GET /v1/subscriptions/{subscriptionId}",
      "200 PATCH /v1/subscriptions/{subscriptionId}"
    ])
  })

  it("ThreadEvent which fields each type has", () => {
    const { discriminator, oneOf } = schemas.ThreadEvent ?? {}
    assert.lengthOf(Array.isArray(oneOf) ? oneOf : [], 12)
    assert.strictEqual(objectAt(discriminator).propertyName, "type")
    for (const [type, reference] of Object.entries(objectAt(discriminator, "mapping"))) {
      assert.deepStrictEqual(objectAt(document, ...String(reference).slice(2).split("/"), "properties", "type").enum, [
        type
      ])
    }
    const common = { seq: 1, eventId: "e", threadId: "t", turnId: "r", occurredAt: "2030-01-01T00:00:00.000Z" }
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
    const failed = { ...common, type: "turn_failed", failureCode: "model_error", failureText: "t", usage }
    const union = schemas.ThreadEvent ?? {}
    assert.isTrue(fits(union, { ...failed, fieldOfTomorrow: 1 }))
    for (const wrong of [
      { ...failed, failureCode: undefined },
      { ...failed, failureDetails: { targetId: "t", formats: ["png"] } },
      { ...failed, failureCode: "model_image_format_unsupported" },
      { ...failed, type: "turn_dreamt" }
    ]) {
      assert.isFalse(fits(union, JSON.parse(JSON.stringify(wrong))), JSON.stringify(wrong))
    }
  })
})

it("every field that an event may have belongs to a type", () => {
  const known = new Set(ThreadEvent.members.flatMap((member) => Object.keys(member.fields)))
  assert.deepStrictEqual(
    Object.keys(AnyEvent.fields).filter((field) => !known.has(field)),
    []
  )
})

describe("a refusal counts as one of meaning", () => {
  const create = find("POST /v1/roles")
  const sent = (body: unknown) => ({ query: {}, body })
  it("where the request breaks the rule that it names", () => {
    assert.isTrue(
      isOfMeaning(
        create,
        sent({ allow: [{ tools: "é".repeat(100) }] }),
        "allow[0].tools: expected a text of at most 176 bytes"
      )
    )
    assert.isTrue(isOfMeaning(create, sent({ name: "\ud800" }), "name: expected well-formed text"))
  })
  it("and not where it keeps to it, or breaks one that the document has words for", () => {
    assert.isFalse(
      isOfMeaning(
        create,
        sent({ allow: [{ tools: "é".repeat(88) }] }),
        "allow[0].tools: expected a text of at most 176 bytes"
      )
    )
    assert.isFalse(isOfMeaning(create, sent({ name: "a" }), "name: expected well-formed text"))
    assert.isFalse(isOfMeaning(create, sent({ name: "" }), "name: expected a text with a non-whitespace character"))
    assert.isFalse(isOfMeaning(create, sent({}), "name: is required"))
    assert.isFalse(
      isOfMeaning(create, sent({ name: "\ud800" }), "name: expected well-formed text; description: expected a string")
    )
  })
})
