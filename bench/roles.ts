/**
 * Microseconds that roles take for one call: `node bench/roles.ts`. Asked is less than 100 for eight roles
 * with 32 grants each. Nothing is spared: every selector is about the tool, and the last condition of
 * each entry is the one that fails. Entries of a role ask about the same eight paths at most: each is
 * followed once a call, so a role whose conditions are all about different places takes longer.
 */
import type { Condition } from "../src/domain/condition.ts"
import { limits } from "../src/domain/limits.ts"
import { compileRole, evaluateRoles, mayEver, type ToolAsked } from "../src/roles/evaluate.ts"

const asked: ToolAsked = {
  name: "payments.refund_order",
  input: {
    amount: 42,
    currency: "EUR",
    reason: "damaged on arrival",
    order: { id: "ord_4711", lines: [{ sku: "A-1", quantity: 2 }] },
    labels: ["vip", "eu"]
  },
  readOnly: false
}

/** All hold, so that none ends the list early. */
const holding: ReadonlyArray<Condition> = [
  { path: "/amount", op: "lte", value: 500 },
  { path: "/currency", op: "in", value: ["USD", "GBP", "EUR"] },
  { path: "/order/id", op: "startsWith", value: "ord_" },
  { path: "/order/lines/0/sku", op: "ne", value: "B-1" },
  { path: "/labels", op: "contains", value: "eu" },
  { path: "/reason", op: "contains", value: "damaged" },
  { path: "/currency", op: "lt", value: "USD" }
]
const failing: Condition = { path: "/order/lines/0/quantity", op: "gt", value: 10 }

const selectors = [
  "payments.*",
  "*.refund*",
  "*refund*order",
  "payments.refund_order",
  "*",
  "*p*y*m*n*s*r*f*n*",
  "pay*.re*_*r",
  "*_order"
]
const roles = (conditions: number, denials = false) => {
  const entries = Array.from({ length: limits.grantsPerRole }, (_, i) => ({
    tools: selectors[i % selectors.length]!,
    // The last one fails: every condition of every entry is asked, and no entry matches.
    ...(conditions > 0 && { conditions: [...holding.slice(0, conditions - 1), failing] })
  }))
  return Array.from({ length: limits.rolesPerProfile }, (_, i) =>
    compileRole({ id: `role_${i}`, allow: entries, deny: denials ? entries : [] })
  )
}

const cases = [
  ["32 grants without conditions", roles(0), evaluateRoles],
  ["32 grants with 1 condition", roles(1), evaluateRoles],
  ["32 grants with 2 conditions", roles(2), evaluateRoles],
  ["32 grants with 8 conditions", roles(8), evaluateRoles],
  ["32 grants and 32 denials with 2 conditions", roles(2, true), evaluateRoles],
  ["32 grants and 32 denials with 8 conditions", roles(8, true), evaluateRoles],
  ["whether a tool is shown at all", roles(8, true), mayEver]
] as const

const rounds = 7
const roundMs = 150

/** Best of a few rounds: what the work takes when nothing else wants the processor. */
const microseconds = (run: () => void) => {
  const times: Array<number> = []
  for (let round = 0; round <= rounds; round++) {
    const from = performance.now()
    let calls = 0
    for (; performance.now() - from < roundMs; calls += 50) for (let i = 0; i < 50; i++) run()
    times.push(((performance.now() - from) * 1_000) / calls)
  }
  // The first one is the compiler's.
  return Math.min(...times.slice(1))
}

console.log(
  `${limits.rolesPerProfile} roles, every selector about the tool; microseconds per call, best of ${rounds} rounds`
)
for (const [what, compiled, ask] of cases) {
  console.log(
    `${microseconds(() => {
      ask(compiled, asked)
    })
      .toFixed(1)
      .padStart(8)}  ${what}`
  )
}
