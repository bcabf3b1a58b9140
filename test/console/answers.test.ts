/** What the console makes of what the server says: its refusals, its times. */
import { assert, describe, it } from "@effect/vitest"
import { orNone } from "../../console/src/parts/orNone.ts"
import { TroupeError } from "../../src/client/errors.ts"
import { exactTime, relativeTime } from "../../console/src/parts/times.ts"

const refusal = (status: number) => new TroupeError(status, { error: "unavailable", message: "not now" }, undefined)

describe("what may be missing", () => {
  it("is missing by the server's word alone: any other failure is one", async () => {
    assert.strictEqual(await orNone(Promise.resolve("here")), "here")
    assert.isUndefined(await orNone(Promise.reject(refusal(404))))
    for (const failure of [refusal(500), refusal(403), refusal(429), new TypeError("no line")]) {
      const told = await orNone(Promise.reject(failure)).catch((thrown: unknown) => ({ thrown }))
      assert.deepStrictEqual(told, { thrown: failure })
    }
  })
})

describe("a moment", () => {
  const at = "2026-07-01T22:30:05.123Z"

  it("is shown with the zone of who looks, and as the interface has it", () => {
    const format = (timeZone: string) =>
      new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long", timeZone })
    const told = (timeZone: string) => exactTime(at, format(timeZone)).replace(/\s/g, " ")
    assert.strictEqual(told("UTC"), `Jul 1, 2026, 10:30:05 PM UTC (${at})`)
    assert.strictEqual(told("Asia/Kolkata"), `Jul 2, 2026, 4:00:05 AM GMT+5:30 (${at})`)
    assert.match(exactTime(at), /(?:UTC|GMT|[A-Z]{3,4})\S* \(2026-07-01T22:30:05\.123Z\)$/)
  })

  it("is as long ago as it is", () => {
    const now = Date.parse(at)
    assert.deepStrictEqual(
      [0, -90, 3 * 3_600, -2 * 86_400].map((seconds) => relativeTime(now + seconds * 1_000, now)),
      ["now", "1m ago", "in 3h", "2d ago"]
    )
  })
})
