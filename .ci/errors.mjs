/**
 * A reporter beside vitest's own, whose reports leave out errors outside any test: it writes their messages, a line
 * each, to the file that ERRORS names. Where there were none that is empty.
 */
import { writeFileSync } from "node:fs"

export default class {
  onTestRunEnd(_, errors) {
    writeFileSync(process.env.ERRORS, errors.map(({ message }) => `${message.split("\n")[0]}\n`).join(""))
  }
}
