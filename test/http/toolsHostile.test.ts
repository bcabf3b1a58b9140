/**
 * A model that asks for everything: random roles, random calls, people who approve or not, a hook that puts in what the
 * model wanted in truth. The tool server's ledger holds what ran, and a naive reference says what might.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Reply, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer, type TestTool } from "../tools/mcpServer.ts"
import { ended, logOf } from "./threadFixture.ts"
import { addRole, addToolset, assertSound, begin, call, makeWorker, only, resolveWait } from "./toolFixture.ts"

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

interface Condition {
  readonly path: string
  readonly op: "eq" | "ne" | "in" | "startsWith" | "lt" | "contains" | "exists"
  readonly value?: unknown
}
interface Grant {
  readonly tools: string
  readonly conditions?: ReadonlyArray<Condition>
  readonly approval?: "required"
  readonly readOnly?: true
}
interface Role {
  readonly allow: ReadonlyArray<Grant>
  readonly deny: ReadonlyArray<Grant>
}

/** The rules as they are told, letter by letter. */
const reference = {
  selects: (selector: string, name: string): boolean =>
    selector === ""
      ? name === ""
      : selector[0] === "*"
        ? reference.selects(selector.slice(1), name) || (name !== "" && reference.selects(selector, name.slice(1)))
        : selector[0] === name[0] && reference.selects(selector.slice(1), name.slice(1)),

  find: (path: string, input: unknown): unknown =>
    path
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (at, key) =>
          typeof at === "object" && at !== null && Object.hasOwn(at, key)
            ? Object.getOwnPropertyDescriptor(at, key)?.value
            : undefined,
        input
      ),

  /** Undefined: it cannot be asked. */
  holds: ({ op, path, value }: Condition, input: unknown): boolean | undefined => {
    const found = reference.find(path, input)
    if (op === "exists") return (found !== undefined) === (value ?? true)
    if (found === undefined) return undefined
    switch (op) {
      case "eq":
        return JSON.stringify(found) === JSON.stringify(value)
      case "ne":
        return JSON.stringify(found) !== JSON.stringify(value)
      case "in":
        return Array.isArray(value) && value.some((one) => JSON.stringify(one) === JSON.stringify(found))
      case "startsWith":
        return typeof found === "string" ? found.startsWith(String(value)) : undefined
      case "contains":
        return typeof found === "string"
          ? found.includes(String(value))
          : Array.isArray(found)
            ? found.includes(value)
            : undefined
      case "lt":
        return typeof found === "number" ? found < Number(value) : undefined
    }
  },

  /** Whether roles allow it, and which grants want a person's word. */
  verdict: (
    roles: ReadonlyArray<Role>,
    tool: { readonly name: string; readonly readOnly: boolean },
    input: unknown
  ) => {
    const answers = ({ conditions = [] }: Grant) => conditions.map((condition) => reference.holds(condition, input))
    const denied = roles.some(({ deny }) =>
      deny.some((entry) => reference.selects(entry.tools, tool.name) && !answers(entry).includes(false))
    )
    const granting = roles.flatMap(({ allow }, role) =>
      allow
        .filter(
          (grant) =>
            reference.selects(grant.tools, tool.name) &&
            (grant.readOnly !== true || tool.readOnly) &&
            answers(grant).every((holds) => holds === true)
        )
        .map((grant) => ({ key: JSON.stringify([role, grant]), grant }))
    )
    return {
      allowed: !denied && granting.length > 0,
      wanting: granting.filter(({ grant }) => grant.approval === "required").map(({ key }) => key)
    }
  }
}

const names = ["read", "put", "delete.all", "Read"]
const readOnlyNames = new Set(["read"])
const tools: ReadonlyArray<TestTool> = names.map((name) => ({
  name,
  annotations: { readOnlyHint: readOnlyNames.has(name) },
  run: () => "ran"
}))

const server = await during(startServer({ leaseTtlMs: 20_000 }))
const hooks = await during(startHookServer())
/** The agent's, and one that it was not given. */
const mine = await during(startMcpServer({ tools }))
const theirs = await during(startMcpServer({ tools }))
const own = await addToolset(server.alpha, { kind: "mcp", url: mine.url, namespace: "own" })
const ns = own.namespace
await addToolset(server.alpha, { kind: "mcp", url: theirs.url, namespace: "own2" })
const roleIds = [await addRole(server.alpha, {}), await addRole(server.alpha, {}), await addRole(server.alpha, {})]
const swap: Reply = (response, received) =>
  rewrite({ toolInput: Object(received.body.data).toolInput.swap })(response, received)
const agentId = await makeWorker(server.alpha, {
  toolsetIds: [own.id],
  hooks: [
    {
      name: "swap",
      point: "before_tool_call",
      match: { conditions: [{ path: "/swap", op: "exists" }] },
      processor: { type: "url", url: hooks.endpoint(swap).url }
    }
  ]
})
const profileId = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent.profileId
afterAll(() => assertSound(server))

const scalar = fc.constantFrom<unknown>("a", "a", "a", 1, 1, 1, "ab", "", 2, -1, true, null)
const plainInput = fc.dictionary(
  fc.constantFrom("a", "b", "constructor"),
  fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.record({ c: scalar })),
  { maxKeys: 3 }
)
const input = fc.oneof(
  { weight: 6, arbitrary: plainInput },
  {
    weight: 12,
    arbitrary: fc.record({
      a: scalar,
      swap: fc.oneof(
        { weight: 9, arbitrary: fc.record({ a: scalar }).map((swap): unknown => swap) },
        plainInput,
        scalar
      )
    })
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>([], [1], "text", 7, null)
  }
)

const selector = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("*", "own.*", "own*", "**", "*.*") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("own2.*", "*.read", "*read", "o*n*.*t", "own.delete.all", "own.delete.*", "OWN.*")
  },
  { weight: 2, arbitrary: fc.constantFrom(...names).map((name) => `own.${name}`) }
)
/** Most are about what most inputs hold. */
const path = fc.constantFrom("/a", "/a", "/a", "/a", "/b", "/a/c", "/constructor", "/swap/a", "/gone")
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path: fc.constant("/a"), op: fc.constant("eq" as const), value: scalar }),
  fc.record({ path, op: fc.constantFrom("eq" as const, "ne" as const), value: scalar }),
  fc.record({ path, op: fc.constant("in" as const), value: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ path, op: fc.constant("startsWith" as const), value: fc.constantFrom("a", "ab", "") }),
  fc.record({ path, op: fc.constant("contains" as const), value: fc.constantFrom("a", "b") }),
  fc.record({ path, op: fc.constant("lt" as const), value: fc.constantFrom(0, 1, 2) }),
  fc.record({ path, op: fc.constant("exists" as const), value: fc.boolean() })
)
const some = fc.array(condition, { maxLength: 2 })
const grant: fc.Arbitrary<Grant> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ tools: "*" }) },
  { weight: 2, arbitrary: fc.record({ tools: selector, conditions: some }) },
  {
    weight: 2,
    arbitrary: fc.record({
      tools: selector,
      conditions: fc.array(condition, { minLength: 1, maxLength: 1 }),
      approval: fc.constant("required" as const)
    })
  }
)
const denial: fc.Arbitrary<Grant> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ tools: selector, conditions: fc.array(condition, { minLength: 1, maxLength: 2 }) })
  },
  { weight: 1, arbitrary: fc.record({ tools: selector }) }
)
const role: fc.Arbitrary<Role> = fc.record({
  allow: fc.array(grant, { minLength: 1, maxLength: 4 }),
  deny: fc.array(denial, { maxLength: 1 })
})
const readOnly: Role = { allow: [{ tools: "*", readOnly: true }], deny: [] }

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names).map((name) => `own.${name}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "own2.read",
      "own2.put",
      "read",
      "own.*",
      "*",
      "OWN.read",
      "own.READ",
      "own.read.",
      "own..read",
      "own.nothing",
      "__proto__",
      "own.constructor"
    )
  }
)

const profile = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(role, { minLength: 1, maxLength: 3 }).map((roles) => ({ roles, builtIn: undefined }))
  },
  { weight: 1, arbitrary: fc.constant({ roles: [readOnly], builtIn: "role_00000000000000000000000002" }) },
  { weight: 1, arbitrary: fc.constant({ roles: [], builtIn: undefined }) }
)

interface Asked {
  readonly name: string
  readonly input: unknown
}

type Fate =
  | "unknown"
  | "denied"
  | "disapproved"
  /** The hook has put in what the roles do not allow, or what wants a person's word that nobody has given. */
  | "lured"
  | "unapproved"
  | { readonly tool: string; readonly input: unknown }

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

/** What becomes of the call: what runs, or why nothing does. */
const fateOf = (roles: ReadonlyArray<Role>, approves: boolean, { input, name }: Asked): Fate => {
  const tool = names.find((known) => `${ns}.${known}` === name)
  if (tool === undefined) return "unknown"
  const asked = { name, readOnly: readOnlyNames.has(tool) }
  const first = reference.verdict(roles, asked, input)
  if (!first.allowed || !isObject(input)) return "denied"
  if (first.wanting.length > 0 && !approves) return "disapproved"
  const swapped = reference.find("/swap", input)
  if (swapped === undefined) return { tool, input }
  const then = reference.verdict(roles, asked, swapped)
  if (!then.allowed || !isObject(swapped)) return "lured"
  // A person has approved what the model asked for, under those grants and no others.
  return then.wanting.every((key) => first.wanting.includes(key)) ? { tool, input: swapped } : "unapproved"
}

/** Each fate once. */
const example: [{ roles: Array<Role>; builtIn: undefined }, Array<Asked>, boolean] = [
  {
    builtIn: undefined,
    roles: [
      {
        allow: [{ tools: "*" }, { tools: "*", conditions: [{ path: "/a", op: "eq", value: 1 }], approval: "required" }],
        deny: [{ tools: "*", conditions: [{ path: "/a", op: "eq", value: "no" }] }]
      }
    ]
  },
  [{ a: "yes" }, { a: "no" }, { a: 1 }, { a: "yes", swap: { a: "no" } }, { a: "yes", swap: { a: 1 } }]
    .map((input) => ({ name: "own.put", input }))
    .concat({ name: "own2.put", input: { a: "yes" } }),
  false
]

describe("a model that asks for everything", () => {
  it(`runs what its roles allow, and nothing else (seed ${seed})`, { timeout: 60_000 }, async () => {
    const count = { unknown: 0, denied: 0, disapproved: 0, lured: 0, unapproved: 0, ran: 0 }
    await fc.assert(
      fc.asyncProperty(
        profile,
        fc.array(fc.record({ name, input }), { minLength: 12, maxLength: 20 }),
        fc.boolean(),
        async ({ builtIn, roles }, calls, approves) => {
          if (builtIn === undefined)
            await Promise.all(
              roles.map(async (role, i) => {
                const patched = await server.alpha.patch(`/v1/roles/${roleIds[i]}`, role)
                assert.strictEqual(patched.status, 200, patched.text)
              })
            )
          const patched = await server.alpha.patch(`/v1/profiles/${profileId}`, {
            roleIds: builtIn === undefined ? roleIds.slice(0, roles.length) : [builtIn]
          })
          assert.strictEqual(patched.status, 200, patched.text)

          const threadId = await begin(server.alpha, agentId, ...calls.map(({ input, name }) => call(name, input)))
          const isOver = ended(1)
          for (;;) {
            const log = await logOf(
              server.alpha,
              threadId,
              (log) => isOver(log) || only(log, "wait_created").length > only(log, "wait_resolved").length
            )
            if (isOver(log)) break
            for (const { id } of (await server.alpha.get(`/v1/threads/${threadId}`)).body.pendingWaits) {
              await resolveWait(server.alpha, threadId, id, { type: "decision", decision: approves ? "allow" : "deny" })
            }
          }

          const log = await logOf(server.alpha, threadId, isOver)
          assert.strictEqual(log.at(-1)!.type, "turn_completed")
          assert.deepStrictEqual(theirs.calls, [])
          const intents = only(log, "tool_intent")
          assert.lengthOf(intents, calls.length)
          const results = new Map(only(log, "tool_result").map((result) => [result.toolCallId, result.failureCode]))
          for (const [i, intent] of intents.entries()) {
            const fate = fateOf(roles, approves, calls[i]!)
            const ran = mine.calls
              .filter(({ toolCallId }) => toolCallId === intent.toolCallId)
              .map(({ input, tool }) => ({ tool, input }))
            assert.deepStrictEqual(ran, typeof fate === "string" ? [] : [fate], JSON.stringify(calls[i]))
            if (typeof fate === "string")
              assert.include(["tool_denied", "tool_not_found", "tool_input_invalid"], results.get(intent.toolCallId))
            count[typeof fate === "string" ? fate : "ran"]++
          }
          // Nothing ran that nobody asked for.
          mine.calls.splice(0)
        }
      ),
      { seed, numRuns: 60, examples: [example] }
    )
    // Every fate was met.
    for (const [what, times] of Object.entries(count)) assert.isAbove(times, 0, what)
  })
})
