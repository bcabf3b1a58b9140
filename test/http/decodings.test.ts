/** Schemas that are compiled to code say of any body what Effect's interpreter says of it. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { decodings } from "./decodings.ts"

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
const runs = 30

it(`a body is decoded or refused as one by compiled and by interpreted schemas (TROUPE_TEST_SEED=${seed})`, async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--disallow-code-generation-from-strings", join(import.meta.dirname, "decodings.ts"), String(seed), String(runs)],
    { maxBuffer: 2 ** 28 }
  )
  const compiled = decodings(seed, runs)
  assert.deepStrictEqual(compiled, JSON.parse(stdout))
  const refused = compiled.filter((line) => / refused: /.test(line)).length
  assert.isAbove(refused, 100)
  assert.isAbove(compiled.length - refused, 100)
})
