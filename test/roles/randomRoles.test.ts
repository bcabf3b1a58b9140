/** Random roles, grants, conditions and inputs: the evaluator says what a naive reference says. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { Condition, type ConditionOp } from "../../src/domain/condition.ts"
import type { Denial, Grant } from "../../src/roles/role.ts"
import { compileRole, evaluateRoles, mayEver, type ToolAsked } from "../../src/roles/evaluate.ts"
import { explain } from "../../src/roles/explain.ts"
import { evaluate, keysOf, type Plain, role } from "./plainRoles.ts"

/** The rules once more, written down as they are told and not as they are fast. */
const reference = {
  selects: (selector: string, name: string): boolean =>
    new RegExp(
      `^${[...selector].map((c) => (c === "*" ? "[^]*" : c.replace(/[.\\+?^${}()|[\]]/, "\\$&"))).join("")}$`
    ).test(name),

  find: (path: string, input: unknown): { readonly held: unknown } | undefined => {
    let at: unknown = input
    for (const part of path.split("/").slice(1)) {
      const token = part.replace(/~[01]/g, (escape) => (escape === "~1" ? "/" : "~"))
      if (typeof at !== "object" || at === null) return undefined
      const own = Object.getOwnPropertyDescriptor(at, token)
      if (own === undefined || (Array.isArray(at) && token === "length")) return undefined
      at = own.value
    }
    return at === undefined ? undefined : { held: at }
  },

  holds: ({ op, path, value }: Condition, input: unknown): boolean | undefined => {
    const found = reference.find(path, input)
    if (op === "exists") return (found !== undefined) === (value ?? true)
    if (found === undefined) return undefined
    const { held } = found
    const text = (value: unknown) => JSON.stringify(value)
    switch (op) {
      case "eq":
        return text(held) === text(value)
      case "ne":
        return text(held) !== text(value)
      case "in":
        return Array.isArray(value) && value.map(text).includes(text(held))
      case "contains":
        if (Array.isArray(held)) return held.map(text).includes(text(value))
        return typeof held === "string" && typeof value === "string"
          ? value === "" || held.split(value).length > 1
          : undefined
      case "startsWith":
        return typeof held === "string" && typeof value === "string" ? held.slice(0, value.length) === value : undefined
      case "endsWith":
        return typeof held === "string" && typeof value === "string"
          ? value === "" || held.slice(-value.length) === value
          : undefined
    }
    const both = [held, value]
    if (!both.every((one) => typeof one === "number") && !both.every((one) => typeof one === "string")) return undefined
    // Texts of one width have the order of their code points.
    const [a, b] = both.map((one) => (typeof one === "number" ? one : String(one)))
    if (a === undefined || b === undefined) return undefined
    return op === "lt" ? a < b : op === "lte" ? a <= b : op === "gt" ? a > b : a >= b
  },

  matches: (entry: Grant, asked: ToolAsked, open: boolean): boolean => {
    if (!reference.selects(entry.tools, asked.name)) return false
    if (entry.readOnly && !asked.readOnly) return false
    return (
      (entry.conditions ?? []).filter((condition) => !(reference.holds(condition, asked.input) ?? open)).length === 0
    )
  },

  decide: (roles: ReadonlyArray<Plain>, asked: ToolAsked) => {
    const all = (list: "allow" | "deny") =>
      roles
        .flatMap((role) => role[list].map((entry: Grant, index) => ({ roleId: role.id, list, index, entry })))
        .filter(({ entry }) => reference.matches(entry, asked, list === "deny"))
    const denying = all("deny")
    const allowing = all("allow")
    const approving = allowing.filter(({ entry }) => entry.approval === "required")
    return {
      decision: denying.length > 0 || allowing.length === 0 ? "deny" : "allow",
      by: denying[0]?.roleId,
      // How a grant is known is not told again here, only that it is by itself.
      approvals: approving.flatMap(({ entry, roleId }) => keysOf(role(roleId, { allow: [entry] }), asked)),
      matched: [...denying, ...allowing].map(({ index, list, roleId }) => ({ roleId, list, index }))
    }
  }
}

const words = ["a", "b", "ab", "git", "del", ".", "_"] as const
const name = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""))
const selector = fc.oneof(
  name,
  fc.array(fc.constantFrom(...words, "*", "*"), { minLength: 1, maxLength: 5 }).map((parts) => parts.join("")),
  fc.constant("*")
)

const escaped = (token: string) => token.replaceAll("~", "~0").replaceAll("/", "~1")

/** Two names are common, so that paths often lead somewhere; the others are what paths could stumble over. */
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b") },
  { weight: 1, arbitrary: fc.constantFrom("", "0", "1", "x/y", "~1", "length", "__proto__") }
)
const leaf = fc.oneof(
  fc.integer({ min: -2, max: 2 }),
  fc.constantFrom("", "a", "ab", "b", "1"),
  fc.boolean(),
  fc.constant(null)
)
const small = fc.oneof(leaf, leaf, fc.array(leaf, { maxLength: 2 }))
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    small,
    small,
    small,
    fc.dictionary(key, tie("value"), { minKeys: 1, maxKeys: 4 }),
    fc.array(tie("value"), { maxLength: 3 })
  )
})).value
const path = fc
  .oneof({ weight: 3, arbitrary: fc.tuple(key) }, { weight: 1, arbitrary: fc.array(key, { maxLength: 3 }) })
  .map((tokens) => tokens.map((token) => `/${escaped(token)}`).join(""))
const decodeJson = Schema.decodeUnknownSync(Schema.Json)
const valueFor = (op: ConditionOp): fc.Arbitrary<unknown> =>
  op === "exists"
    ? fc.boolean()
    : op === "in"
      ? fc.array(small, { minLength: 1, maxLength: 3 })
      : op === "startsWith" || op === "endsWith"
        ? fc.constantFrom("", "a", "ab", "b")
        : op === "eq" || op === "ne" || op === "contains"
          ? small
          : fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom("", "a", "ab", "b"))
const op = fc.constantFrom<ConditionOp>(
  "eq",
  "ne",
  "in",
  "startsWith",
  "endsWith",
  "contains",
  "lt",
  "lte",
  "gt",
  "gte",
  "exists"
)
const isCondition = Schema.is(Condition)

/** Every path that leads somewhere. */
const pathsIn = (input: unknown): ReadonlyArray<string> => [
  "",
  ...(typeof input !== "object" || input === null
    ? []
    : Object.entries(input).flatMap(([key, value]) => pathsIn(value).map((path) => `/${escaped(key)}${path}`)))
]

const anyCondition = op.chain((op) => fc.record({ op: fc.constant(op), path, value: valueFor(op).map(decodeJson) }))

/** Most conditions are aimed at what stands somewhere in the input: chance alone hardly ever meets it. */
const conditionOn = (input: unknown): fc.Arbitrary<Condition> => {
  const aimed = fc
    .record({ op, path: fc.constantFrom(...pathsIn(input)) })
    .map(({ op, path }) => {
      const held = reference.find(path, input)?.held
      return { op, path, value: op === "exists" ? true : op === "in" ? [held] : held }
    })
    .filter(isCondition)
  return fc.oneof({ weight: 3, arbitrary: aimed }, { weight: 1, arbitrary: anyCondition })
}

const rolesOn = (input: unknown) => {
  const conditions = fc.option(fc.array(conditionOn(input), { maxLength: 2 }), { nil: undefined, freq: 3 })
  const denial = fc
    .record({ tools: selector, conditions })
    .map(({ conditions, tools }): Denial => ({ tools, ...(conditions && { conditions }) }))
  const grant = fc.tuple(denial, fc.boolean(), fc.integer({ min: 0, max: 4 })).map(
    ([entry, approval, only]): Grant => ({
      ...entry,
      ...(approval && { approval: "required" }),
      ...(only === 0 && { readOnly: true })
    })
  )
  return fc
    .array(fc.record({ allow: fc.array(grant, { maxLength: 5 }), deny: fc.array(denial, { maxLength: 2 }) }), {
      maxLength: 4
    })
    .map((list) => list.map((lists, index) => role(`role_${index}`, lists)))
}

const object = fc.record({ a: json, b: json }, { requiredKeys: [] })
const asked = fc.record({ name, input: fc.oneof(object, object, json, fc.constant(undefined)), readOnly: fc.boolean() })
const question = asked.chain((asked) =>
  fc.record({ asked: fc.constant(asked), roles: rolesOn(asked.input), more: rolesOn(asked.input) })
)

describe("for random roles, grants, conditions and inputs", () => {
  it("the evaluator agrees with a naive reference, and so does its explanation", { timeout: 60_000 }, () => {
    const seen = { allow: 0, deny: 0, approval: 0, denied: 0, conditional: 0 }
    fc.assert(
      fc.property(question, ({ asked, roles }) => {
        const expected = reference.decide(roles, asked)
        const compiled = roles.map(compileRole)
        const verdict = evaluateRoles(compiled, asked)
        assert.strictEqual(verdict.decision, expected.decision)
        if (verdict.decision === "deny") assert.strictEqual(verdict.by, expected.by)
        else assert.deepStrictEqual(verdict.approvals ?? [], expected.approvals)

        const told = explain(compiled, asked)
        assert.strictEqual(told.decision, expected.decision)
        assert.deepStrictEqual(
          told.matched.map(({ index, list, roleId }) => ({ roleId, list, index })),
          expected.matched
        )
        assert.strictEqual(
          told.approval === "required",
          verdict.decision === "allow" && verdict.approvals !== undefined
        )

        seen[expected.decision === "allow" ? "allow" : "deny"]++
        if (expected.by !== undefined) seen.denied++
        if (verdict.decision === "allow" && verdict.approvals !== undefined) seen.approval++
        const conditional = expected.matched.some(
          ({ index, list, roleId }) =>
            (roles.find(({ id }) => id === roleId)?.[list][index]?.conditions ?? []).length > 0
        )
        if (verdict.decision === "allow" && conditional) seen.conditional++
      }),
      { numRuns: 20_000 }
    )
    for (const [what, times] of Object.entries(seen)) assert.isAbove(times, 300, `${what} is hardly ever tried`)
  })

  it("a tool that is never allowed is the only kind that is not shown", { timeout: 60_000 }, () => {
    let hidden = 0
    fc.assert(
      fc.property(question, ({ asked, roles }) => {
        const compiled = roles.map(compileRole)
        const shown = mayEver(compiled, asked)
        if (!shown) {
          hidden++
          assert.strictEqual(evaluateRoles(compiled, asked).decision, "deny")
        }
        // Shown, then for want of conditions: without any, what is shown is allowed.
        const bare = roles.map(({ allow, deny, id }) =>
          role(id, {
            allow: allow.map(({ conditions: _, ...rest }) => rest),
            deny: deny.filter((entry) => (entry.conditions ?? []).length === 0)
          })
        )
        assert.strictEqual(shown, evaluate(bare, asked).decision === "allow")
      }),
      { numRuns: 5_000 }
    )
    assert.isAbove(hidden, 100)
  })

  it("more denials never allow more, and more grants never deny more", () => {
    fc.assert(
      fc.property(question, ({ asked, more, roles }) => {
        const denials = more.map(({ deny, id }) => role(`more_${id}`, { deny }))
        const grants = more.map(({ allow, id }) => role(`more_${id}`, { allow }))
        if (evaluate(roles, asked).decision === "deny")
          assert.strictEqual(evaluate([...roles, ...denials], asked).decision, "deny")
        else assert.strictEqual(evaluate([...roles, ...grants], asked).decision, "allow")
      }),
      { numRuns: 5_000 }
    )
  })
})
