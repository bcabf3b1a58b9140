/**
 * Microseconds of small things that are done often: `node bench/small.ts`. Asked is less than 100 for a value against a
 * schema that is known, and less than a second for a search among all tools that a profile can have.
 */
import { Validators } from "../src/tools/jsonSchema.ts"
import { ranked } from "../src/tools/ranking.ts"

const rounds = 5

/** The best of the rounds, each of so many times. */
const microseconds = (times: number, work: () => unknown) => {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    for (let time = 0; time < times; time++) work()
    best = Math.min(best, ((performance.now() - began) * 1_000) / times)
  }
  return best
}

const validators = new Validators()
const validate = (schema: unknown, value: unknown) => validators.misfit(JSON.stringify(schema), value)
const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] }

const tools = Array.from({ length: 64 * 512 }, (_, i) => ({
  name: `set${i % 64}.tool_${i}`,
  description: `Does ${i} things. `.repeat(100)
}))
ranked(`${Array.from({ length: 100 }, (_, i) => `word${i}`).join(" ")} things`, tools)

for (const [what, times, work] of [
  ["a value against a schema that is known", 10_000, () => validate(schema, { text: "x" })],
  [`two words among ${tools.length} tools`, 1, () => ranked("things 1", tools)]
] as const)
  console.log(`${microseconds(times, work).toFixed(1).padStart(10)}  ${what}`)
