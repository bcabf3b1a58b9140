/** What operators are warned of about the way to NATS. */
import { assert, describe, it } from "vitest"
import { exposures, type NatsFiles } from "../../src/bus/natsSettings.ts"
import { readNatsUrls } from "../../src/bus/natsUrls.ts"

const of = (url: string, files: NatsFiles = {}) =>
  exposures({ ...readNatsUrls(url), files }).map((line) => line.replace(/.* is reached without (TLS|a login).*/, "$1"))

describe("the way to NATS", () => {
  it.each([
    ["nats://nats.example:4222", {}, ["TLS", "a login"]],
    ["nats://user:secret@nats.example", {}, ["TLS"]],
    ["nats://token@nats.example", {}, ["TLS"]],
    ["tls://nats.example", {}, ["a login"]],
    ["tls://token@nats.example", {}, []],
    ["nats://nats.example", { ca: "/ca.pem", creds: "/node.creds" }, []],
    ["nats://nats.example", { nkey: "/node.nk" }, ["TLS"]],
    ["tls://nats.example", { cert: "/node.pem", key: "/node.key" }, []],
    ["nats://10.0.0.1", {}, ["TLS", "a login"]],
    ["nats://127.0.0.1:4222", {}, []],
    ["nats://localhost,nats://[::1]:4222", {}, []],
    ["nats://127.0.0.1,nats://nats.example", {}, ["TLS", "a login"]]
  ] as const)("%s with %o is open for want of %o", (url, files, expected) =>
    assert.deepStrictEqual(of(url, files), [...expected])
  )

  it("is described by its server, and not by its login", () => {
    const [line = ""] = exposures(readNatsUrls("nats://ann:hunter2@127.0.0.1:1,nats://nats.example"))
    assert.include(line, "nats.example:4222")
    assert.notMatch(line, /hunter2|127\.0\.0\.1/)
  })
})
