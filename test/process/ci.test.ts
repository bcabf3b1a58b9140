/**
 * What CI says of a run. Errors outside any test: where there is one, no file that failed beside it is run once more.
 * Tests that did not run.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { root } from "../repository.ts"
import { folderDuring } from "../setup/during.ts"

const folder = await folderDuring("ci")

/** The errors that CI hears of when a test fails, in a run with that global setup, and with more in the test. */
const errorsBeside = async (setup: string, more = "") => {
  const project = await mkdtemp(join(folder, "run-"))
  const errors = join(project, "errors")
  await writeFile(join(project, "fails.test.mjs"), `it("fails", () => { ${more}; throw new Error("of the test") })`)
  await writeFile(join(project, "setup.mjs"), setup)
  await writeFile(
    join(project, "vitest.config.mjs"),
    `export default { test: { globals: true, globalSetup: "./setup.mjs" } }`
  )
  const { exitCode, said } = await new Promise<{ readonly exitCode: unknown; readonly said: string }>((resolve) => {
    execFile(
      process.execPath,
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--reporter=default",
        `--reporter=${join(root, ".ci/errors.mjs")}`
      ],
      { cwd: project, env: { PATH: process.env.PATH, ERRORS: errors } },
      (error, stdout, stderr) => resolve({ exitCode: error?.code ?? 0, said: stdout + stderr })
    )
  })
  assert.strictEqual(exitCode, 1, said)
  assert.include(said, "1 failed")
  return readFile(errors, "utf8")
}

describe("the errors that CI hears of beside a test that fails", () => {
  it("are none where nothing else did", async () => {
    assert.strictEqual(await errorsBeside(`export default () => () => {}`), "")
  })

  it("have what nobody awaits", async () => {
    const more = `Promise.reject(new Error("of nobody"))`
    assert.strictEqual(await errorsBeside(`export default () => {}`, more), "of nobody\n")
  })

  it("have what a global teardown throws", async () => {
    const setup = `export default () => () => { throw new Error("of the teardown\\nand more") }`
    assert.strictEqual(await errorsBeside(setup), "of the teardown\n")
  })
})

describe("the closing lines of CI", () => {
  it("name each test that did not run", async () => {
    const report = await mkdtemp(join(folder, "report-"))
    const test = (status: string, fullName: string) => ({ status, fullName, failureMessages: [] })
    const run = {
      success: true,
      numPassedTests: 1,
      numFailedTests: 0,
      numPendingTests: 1,
      numTodoTests: 0,
      testResults: [
        {
          name: join(root, "test/a.test.ts"),
          status: "passed",
          assertionResults: [test("passed", "runs"), test("skipped", "waits (needs a clock)")]
        }
      ]
    }
    await writeFile(join(report, "first.json"), JSON.stringify(run))
    const said = execFileSync(process.execPath, [join(root, ".ci/report.mjs"), "--close", report, "0"], {
      cwd: root,
      encoding: "utf8"
    })
    assert.strictEqual(said, "Not run: test/a.test.ts: waits (needs a clock)\n1 skipped\n1 passed, 0 failed\n")
  })
})
