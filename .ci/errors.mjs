/**
 * A reporter beside vitest's own, whose reports leave out errors outside any test: it writes their messages, a line
 * each, to the file that ERRORS names. The file is empty where there were none.
 */
import { appendFileSync, writeFileSync } from "node:fs"

const lineOf = (error) => `${String(error?.message ?? error).split("\n")[0]}\n`

export default class {
  onInit(vitest) {
    // A global teardown runs when reporters have heard the last: vitest logs what it threw, right behind these hooks.
    vitest.onClose(() => {
      const { logger } = vitest
      const { error } = logger
      logger.error = (...words) => {
        appendFileSync(process.env.ERRORS, lineOf(words.at(-1)))
        error.apply(logger, words)
      }
    })
  }

  onTestRunEnd(_, errors) {
    writeFileSync(process.env.ERRORS, errors.map(lineOf).join(""))
  }
}
