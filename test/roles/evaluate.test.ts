/** What roles say of a call: it is allowed, denied, or wants approval. */
import { assert, describe, it } from "@effect/vitest"
import type { Condition } from "../../src/domain/condition.ts"
import { allTools, type Grant, noTools, readOnly } from "../../src/roles/role.ts"
import { compileRole, deniesAll, evaluateRoles, type ToolAsked } from "../../src/roles/evaluate.ts"
import { evaluate, keysOf, role } from "./plainRoles.ts"

const call = (name: string, input: unknown = {}, readOnly = false): ToolAsked => ({ name, input, readOnly })

describe("the verdict of roles", () => {
  it("denies what no role allows, and everything without roles", () => {
    assert.deepStrictEqual(evaluate([], call("a.b")), {
      decision: "deny",
      reason: "no role allows this tool with this input"
    })
    assert.strictEqual(
      evaluate([role("r", { allow: [{ tools: "a.c" }] }), role("s", {})], call("a.b")).decision,
      "deny"
    )
  })

  it("allows what any role allows", () => {
    assert.deepStrictEqual(
      evaluate([role("r", {}), role("s", { allow: [{ tools: "x" }, { tools: "a.*" }] })], call("a.b")),
      { decision: "allow" }
    )
  })

  it("denies what any role denies, wherever that role stands, and says which", () => {
    const allow = role("r", { allow: [{ tools: "*" }] })
    const deny = role("s", { deny: [{ tools: "x" }, { tools: "a.b" }] })
    for (const roles of [
      [allow, deny],
      [deny, allow]
    ]) {
      assert.deepStrictEqual(evaluate(roles, call("a.b")), {
        decision: "deny",
        by: "s",
        reason: "denied by the role s, deny[1]"
      })
    }
  })

  it("requires approval if any matching grant does, and names all that do", () => {
    const plain = role("r", { allow: [{ tools: "*" }] })
    const asking = role("s", {
      allow: [
        { tools: "x", approval: "required" },
        { tools: "a.*", approval: "required" },
        { tools: "*", approval: "required" }
      ]
    })
    const keys = asking.allow.flatMap((grant) =>
      keysOf(role("s", { allow: [grant] }), call(grant.tools === "x" ? "x" : "a.b"))
    )
    const [x = "", a = "", all = ""] = keys
    for (const roles of [
      [plain, asking],
      [asking, plain]
    ])
      assert.deepStrictEqual(evaluate(roles, call("a.b")), { decision: "allow", approvals: [a, all] })
    assert.deepStrictEqual(evaluate([plain, asking], call("x")), { decision: "allow", approvals: [x, all] })
    assert.strictEqual(new Set(keys).size, 3)
  })

  it("knows a grant that requires approval by what it says, wherever it stands, and no other by that", () => {
    const grant = { tools: "a.*", conditions: [{ path: "/n", op: "lt", value: 5 }], approval: "required" } as const
    const asked = call("a.b", { n: 1 })
    const [key = ""] = keysOf(role("r", { allow: [grant] }), asked)
    assert.match(key, /^r\/[A-Za-z0-9_-]{22}$/)
    assert.deepStrictEqual(
      keysOf(role("r", { allow: [{ tools: "*" }, { tools: "b", approval: "required" }, grant] }), asked),
      [key]
    )
    const others: ReadonlyArray<Grant> = [
      { ...grant, tools: "a.b" },
      { tools: "a.*", approval: "required" },
      { ...grant, conditions: [{ path: "/n", op: "lt", value: 6 }] },
      { ...grant, conditions: [{ path: "/n", op: "lte", value: 5 }] },
      {
        ...grant,
        conditions: [
          { path: "/n", op: "lt", value: 5 },
          { path: "/n", op: "exists" }
        ]
      }
    ]
    const keys = [
      key,
      ...keysOf(role("s", { allow: [grant] }), asked),
      ...others.flatMap((other) => keysOf(role("r", { allow: [other] }), asked))
    ]
    assert.strictEqual(new Set(keys).size, 7)
  })

  it("asks for no approval of what is denied", () => {
    assert.strictEqual(
      evaluate([role("r", { allow: [{ tools: "*", approval: "required" }], deny: [{ tools: "*" }] })], call("a.b"))
        .decision,
      "deny"
    )
  })

  describe("of conditions", () => {
    const ceiling: Condition = { path: "/amount", op: "lte", value: 100 }
    const floor: Condition = { path: "/amount", op: "gt", value: 100 }
    const grant = [role("r", { allow: [{ tools: "*", conditions: [ceiling] }] })]
    const denial = [role("r", { allow: [{ tools: "*" }], deny: [{ tools: "*", conditions: [floor] }] })]
    it.each<[unknown, "allow" | "deny"]>([
      [{ amount: 100 }, "allow"],
      [{ amount: 101 }, "deny"],
      [{}, "deny"],
      [{ amount: null }, "deny"],
      [{ amount: "1" }, "deny"],
      [{ amount: [1] }, "deny"],
      [undefined, "deny"],
      [null, "deny"],
      ["amount", "deny"],
      [{ amount: Number.NaN }, "deny"]
    ])("is the same for %j, be it granted below a limit or denied above it", (input, decision) => {
      assert.strictEqual(evaluate(grant, call("a.b", input)).decision, decision)
      assert.strictEqual(evaluate(denial, call("a.b", input)).decision, decision)
    })

    it("needs all of a list", () => {
      const conditions: ReadonlyArray<Condition> = [
        { path: "/a", op: "eq", value: 1 },
        { path: "/b", op: "exists", value: false }
      ]
      assert.strictEqual(
        evaluate([role("r", { allow: [{ tools: "*", conditions }] })], call("a.b", { a: 1 })).decision,
        "allow"
      )
      assert.strictEqual(
        evaluate([role("r", { allow: [{ tools: "*", conditions }] })], call("a.b", { a: 1, b: 1 })).decision,
        "deny"
      )
      // One that does not hold keeps a denial from matching, even beside one that cannot be asked.
      const deny = [
        {
          tools: "*",
          conditions: [
            { path: "/gone", op: "eq", value: 1 },
            { path: "/a", op: "eq", value: 2 }
          ]
        }
      ] as const
      assert.strictEqual(
        evaluate([role("r", { allow: [{ tools: "*" }], deny })], call("a.b", { a: 1 })).decision,
        "allow"
      )
    })
  })

  it("of the built-in roles is what their names say", () => {
    for (const readOnlyTool of [true, false]) {
      assert.strictEqual(evaluate([allTools], call("a.b", {}, readOnlyTool)).decision, "allow")
      assert.strictEqual(evaluate([readOnly], call("a.b", {}, readOnlyTool)).decision, readOnlyTool ? "allow" : "deny")
      assert.strictEqual(evaluate([noTools], call("a.b", {}, readOnlyTool)).decision, "deny")
    }
    assert.strictEqual(
      evaluate([noTools, allTools], call("a.b")).decision,
      "allow",
      "no_tools allows nothing; it denies nothing either"
    )
    assert.strictEqual(
      evaluateRoles([compileRole(allTools), deniesAll("gone")], call("a.b")).decision,
      "deny",
      "a role that is gone denies"
    )
  })
})
