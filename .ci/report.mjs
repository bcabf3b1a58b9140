/**
 * What vitest's own reports say of a run: `first.json`, and `second.json` where files were run once more.
 *
 *   --failed FOLDER           paths of the files that failed, a line each: none where too many did
 *   --close FOLDER STATUS     the closing line, "N passed, M failed", and the exit code. STATUS is that of the last run
 */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"

const mostOnceMore = 12
const [, , what, folder, status] = process.argv

/** Null where a run broke off before its end: it has no report. */
const read = (name) => {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"))
  } catch {
    return null
  }
}

/** Files with a failed test, and those that did not load. */
const failedFiles = (run) => run.testResults.filter(({ status }) => status === "failed")
const failedTests = ({ assertionResults }) => assertionResults.filter(({ status }) => status === "failed")
const skippedTests = ({ assertionResults }) =>
  assertionResults.filter(({ status }) => status !== "passed" && status !== "failed")
const pathOf = ({ name }) => relative(process.cwd(), name)

const first = read("first")

if (what === "--failed") {
  const failed = first === null ? [] : failedFiles(first).map(pathOf)
  if (failed.length <= mostOnceMore) for (const path of failed) console.log(path)
} else {
  const second = read("second")
  const last = second ?? first
  let passed = first?.numPassedTests ?? 0
  let failed = last?.numFailedTests ?? 1
  if (first === null) console.error("There is no report: the run broke off before the tests, or during them.")
  if (second !== null) {
    // Tests that a file which does not load keeps from being seen are counted when it does.
    passed = passed - passedIn(first, second) + second.numPassedTests
    for (const file of failedFiles(first)) {
      const now = second.testResults.find(({ name }) => name === file.name)
      if (now?.status !== "passed") continue
      console.log(`Passed at the second try only: ${pathOf(file)}`)
      for (const { failureMessages, fullName } of failedTests(file))
        console.log(`  ${fullName}\n    ${(failureMessages[0] ?? "").split("\n").slice(0, 4).join("\n    ")}`)
    }
  }
  // A file that does not load, or an error outside any test, is a failure without a failed test.
  if ((Number(status) !== 0 || last?.success !== true) && failed === 0) failed = 1
  const skipped = (first?.numPendingTests ?? 0) + (first?.numTodoTests ?? 0)
  if (skipped > 0) {
    // A test that may be skipped says in its name what it needs.
    for (const file of first?.testResults ?? [])
      for (const { fullName } of skippedTests(file)) console.log(`Not run: ${pathOf(file)}: ${fullName}`)
    console.log(`${skipped} skipped`)
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

/** Tests that had passed in the files of another run. */
function passedIn(run, { testResults }) {
  const names = new Set(testResults.map(({ name }) => name))
  return run.testResults
    .filter(({ name }) => names.has(name))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed").length
}
