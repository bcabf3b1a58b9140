/** Uses the share of one core that its argument says, and asks nobody anything, until its standard input ends. */
import { setTimeout as sleep } from "node:timers/promises"

const share = Math.min(1, Number(process.argv[2]))
const tickMs = 20
let on = true
process.stdin.once("end", () => { on = false }).resume()
console.log("burning")

while (on) {
  const tick = performance.now()
  while (performance.now() - tick < share * tickMs);
  // Also where it burns all the time, it hears that it is to end.
  await sleep(Math.max(0, tickMs - (performance.now() - tick)))
}
process.exit()
