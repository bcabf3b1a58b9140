import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isAllowed } from "../../src/outbound/addresses.ts"
import { urlProblemOf } from "../../src/outbound/urls.ts"

/** Of each range its first and last address, and spellings that a URL parser makes plain. */
const privateHosts = [
  "127.0.0.1",
  "127.255.255.255",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "127.0x0.0.01",
  "１２７.０.０.１",
  "127。0。0。1",
  "①②⑦.⓪.⓪.①",
  "%31%32%37.0.0.1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "10.0.0.0",
  "10.255.255.255",
  "0xa000001",
  "172.16.0.0",
  "172.31.255.255",
  "192.168.0.0",
  "192.168.255.255",
  "3232235521",
  "0300.0250.0.1",
  "100.64.0.0",
  "100.127.255.255",
  "[fc00::]",
  "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]",
  "[fd12:3456::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::FFFF:7F00:0001]",
  "[0:0:0:0:0:ffff:a00:1]",
  "[::ffff:192.168.1.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::a00:1]"
]

const neverHosts = [
  // Link-local and cloud metadata, in whatever form.
  "169.254.169.254",
  "169.254.0.0",
  "169.254.255.255",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "169.254.43518",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::169.254.169.254]",
  "[fe80::]",
  "[fe80::1]",
  "[febf:ffff::1]",
  "100.100.100.200",
  "[::ffff:100.100.100.200]",
  "192.0.0.192",
  "168.63.129.16",
  "[fd00:ec2::254]",
  "[fd00:0ec2:0:0:0:0:0:0254]",
  "[fd20:ce::254]",
  // Unspecified, broadcast, multicast, reserved, for documentation and benchmarks.
  "0.0.0.0",
  "0",
  "0.255.255.255",
  "255.255.255.255",
  "4294967295",
  "224.0.0.0",
  "239.255.255.255",
  "240.0.0.1",
  "192.0.0.1",
  "192.0.2.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "192.88.99.1",
  "[::]",
  "[ff02::1]",
  "[ffff::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[100::1]",
  "[fec0::1]",
  "[4000::1]",
  "[5f00::1]",
  // What carries an IPv4 address in itself.
  "[::7f00:1]",
  "[::127.0.0.1]",
  "[::8.8.8.8]",
  "[::ffff:0:127.0.0.1]",
  "[2002:7f00:1::]",
  "[2002:a00:1::1]",
  "[2002:808:808::1]",
  "[2001:0:4136:e378::1]",
  "[64:ff9b:1::7f00:1]"
]

const publicHosts = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "223.255.255.255",
  "134744072",
  "0x08080808",
  "[2606:4700::1111]",
  "[2a00:1450::1]",
  "[::ffff:8.8.8.8]",
  "[64:ff9b::8.8.8.8]"
]

const reason = (host: string, allowPrivateNetwork: boolean) =>
  urlProblemOf(`https://${host}:8443/x`, { allowPrivateNetwork })?.reason

describe("an address in a URL", () => {
  for (const host of privateHosts) {
    it(`${host} is refused, unless private networks are allowed`, () => {
      assert.deepStrictEqual([reason(host, false), reason(host, true)], ["forbidden_address", undefined])
    })
  }
  for (const host of neverHosts) {
    it(`${host} is refused always`, () => {
      assert.deepStrictEqual([reason(host, false), reason(host, true)], ["forbidden_address", "forbidden_address"])
    })
  }
  for (const host of publicHosts) {
    it(`${host} is taken`, () =>
      assert.deepStrictEqual([reason(host, false), reason(host, true)], [undefined, undefined]))
  }

  it("that is none in any notation is not taken for one that is allowed", () => {
    for (const text of [
      "",
      "localhost",
      "127.0.0.1:80",
      "1.2.3",
      "0x7f.1",
      "1.2.3.4/8",
      "::1%",
      "[::1]",
      "1.2.3.4 ",
      "::ffff:1.2.3.256",
      "01.2.3.4"
    ]) {
      assert.isFalse(isAllowed(text, true), text)
    }
  })

  it("with a zone is judged like the one without", () => assert.isFalse(isAllowed("fe80::1%eth0", true)))

  it("of the 32 bits of IPv4 is judged the same mapped, behind NAT64, and plain", () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), fc.boolean(), (octets, allow) => {
        const plain = octets.join(".")
        assert.strictEqual(isAllowed(`::ffff:${plain}`, allow), isAllowed(plain, allow), plain)
        assert.strictEqual(isAllowed(`64:ff9b::${plain}`, allow), isAllowed(plain, allow), plain)
        assert.isFalse(isAllowed(`::${plain}`, allow) && plain !== "0.0.0.1", plain)
      }),
      { numRuns: 2_000 }
    )
  })
})
