/**
 * How a node is let in by a NATS server that lets not everybody in: logins, tokens, credentials, nkeys, certificates.
 */
import { nkeys } from "@nats-io/transport-node"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { readNatsUrls } from "../../src/bus/natsUrls.ts"
import { NatsServer } from "../setup/nats.ts"
import { metric } from "../metric.ts"
import { connected, disconnected, idOf, nodeOn, until } from "./world.ts"

const run = promisify(execFile)
const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

const servers: Array<NatsServer> = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))
const start = (config: string | ((folder: string) => Promise<string>)) =>
  Effect.promise(async () => {
    const server = await NatsServer.start(config)
    servers.push(server)
    return server
  })
const test = (title: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(Effect.suspend(body)))

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/**
 * A token as nsc makes them: an operator's, an account's or a user's claims, signed with the key of whoever is above.
 */
const jwt = (signer: ReturnType<typeof nkeys.createUser>, subject: string, name: string, nats: object) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const head = part({ typ: "JWT", alg: "ed25519-nkey" })
  const claims = part({
    jti: randomBytes(16).toString("hex"),
    iat: 1_700_000_000,
    iss: signer.getPublicKey(),
    name,
    sub: subject,
    nats: { version: 2, ...nats }
  })
  const signed = `${head}.${claims}`
  return `${signed}.${Buffer.from(signer.sign(new TextEncoder().encode(signed))).toString("base64url")}`
}

describe("a node", () => {
  test(
    "logs in with a user and a password of the URL, however they are written",
    Effect.fnUntraced(function* () {
      const server = yield* start(`authorization { user: "ann", password: "p@ss/w:rd" }`)
      const node = yield* nodeOn(`nats://ann:p%40ss%2Fw%3Ard@127.0.0.1:${server.port}`)
      yield* connected(node)
      assert.notMatch(node.log.join("\n"), /w:rd|w%3Ard/)
    })
  )

  test(
    "logs in with a token of the URL",
    Effect.fnUntraced(function* () {
      const server = yield* start(`authorization { token: "s3cret" }`)
      yield* connected(yield* nodeOn(`nats://s3cret@127.0.0.1:${server.port}`))
    })
  )

  test(
    "that is not let in says why, once, keeps trying, and is in as soon as it may",
    Effect.fnUntraced(function* () {
      const server = yield* start(`authorization { user: "ann", password: "right" }`)
      const node = yield* nodeOn(`nats://ann:wrong@127.0.0.1:${server.port}`)
      yield* until(() => node.log.some((line) => /authorization violation/i.test(line)))
      const refusals = () => server.log.split("authentication error").length - 1
      yield* until(() => refusals() >= 3, "it does not try again")
      assert.strictEqual(node.bus.state(), "disconnected")
      assert.strictEqual(node.log.length, 1, node.log.join("\n"))
      assert.notMatch(node.log.join("\n"), /wrong/)
      yield* Effect.promise(async () => {
        await server.kill()
        await writeFile(
          join(server.folder, "nats.conf"),
          `listen: "127.0.0.1:${server.port}"\nauthorization { user: "ann", password: "wrong" }\n`
        )
        await server.again()
      })
      yield* connected(node)
    })
  )

  test(
    "signs in with the seed of an nkey",
    Effect.fnUntraced(function* () {
      const user = nkeys.createUser()
      const server = yield* start(async (folder) => {
        await writeFile(join(folder, "user.nk"), `${text(user.getSeed())}\n`)
        return `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`
      })
      yield* connected(yield* nodeOn({ ...readNatsUrls(server.url), files: { nkey: join(server.folder, "user.nk") } }))
    })
  )

  test(
    "signs in with a credentials file, and takes what it says at each connection",
    Effect.fnUntraced(function* () {
      const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()]
      const credentials = () => {
        const user = nkeys.createUser()
        return (
          `-----BEGIN NATS USER JWT-----\n${jwt(account, user.getPublicKey(), "node", { type: "user" })}\n------END NATS USER JWT------\n\n` +
          `-----BEGIN USER NKEY SEED-----\n${text(user.getSeed())}\n------END USER NKEY SEED------\n`
        )
      }
      const limits = { conn: -1, subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, leaf: -1 }
      const server = yield* start(async (folder) => {
        await writeFile(join(folder, "node.creds"), "none yet")
        return (
          `operator: ${jwt(operator, operator.getPublicKey(), "op", { type: "operator" })}\nresolver: MEMORY\n` +
          `resolver_preload: { ${account.getPublicKey()}: ${jwt(operator, account.getPublicKey(), "troupe", { type: "account", limits })} }`
        )
      })
      const creds = join(server.folder, "node.creds")
      const node = yield* nodeOn({ ...readNatsUrls(server.url), files: { creds } })
      yield* until(() => node.log.length > 0)
      assert.strictEqual(node.bus.state(), "disconnected")
      yield* Effect.promise(() => writeFile(creds, credentials()))
      yield* connected(node)
      yield* Effect.promise(async () => {
        await server.kill()
        await writeFile(creds, credentials())
        await server.again()
      })
      yield* disconnected(node)
      yield* connected(node)
    })
  )

  test(
    "needs no more than the permission on troupe.v1.>",
    Effect.fnUntraced(function* () {
      const server = yield* start(
        `authorization { users: [ { user: ann, password: b, permissions: { publish: "troupe.v1.>", subscribe: "troupe.v1.>" } } ] }`
      )
      const [here, there] = [
        yield* nodeOn(`nats://ann:b@127.0.0.1:${server.port}`),
        yield* nodeOn(`nats://ann:b@127.0.0.1:${server.port}`)
      ]
      yield* connected(here)
      yield* connected(there)
      yield* there.bus.serve(idOf("node_", 1), (message) => Effect.succeed(`you said ${message}`))
      assert.strictEqual(yield* here.bus.request(idOf("node_", 1), "hello", 2_000), "you said hello")
      assert.notMatch([...here.log, ...there.log].join("\n"), /refuses/)
    })
  )

  test(
    "says what it may not do",
    Effect.fnUntraced(function* () {
      const server = yield* start(
        `authorization { users: [ { user: ann, password: b, permissions: { publish: "troupe.v1.>", subscribe: "elsewhere.>" } } ] }`
      )
      const node = yield* nodeOn(`nats://ann:b@127.0.0.1:${server.port}`)
      yield* connected(node)
      yield* until(() => node.log.some((line) => /NATS refuses.*troupe\.v1\.auth/.test(line)))
    })
  )
})

describe.skipIf(!hasOpenssl)("a node on a server with TLS (needs openssl)", () => {
  /** An authority, and a certificate of it for the server and one for a node. */
  const certificates = async (folder: string) => {
    const openssl = (...args: ReadonlyArray<string>) => run("openssl", [...args], { cwd: folder })
    await openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-days",
      "2",
      "-subj",
      "/CN=test authority"
    )
    for (const name of ["server", "node"]) {
      await openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        `/CN=${name}`
      )
      await writeFile(join(folder, `${name}.ext`), "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
      await openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-out",
        `${name}.pem`,
        "-days",
        "2",
        "-extfile",
        `${name}.ext`
      )
    }
  }
  const tls = (more: string) => async (folder: string) => {
    await certificates(folder)
    return `tls { cert_file: "${folder}/server.pem", key_file: "${folder}/server.key", ca_file: "${folder}/ca.pem"${more} }`
  }

  test(
    "trusts the authority that it is told of, and no other",
    Effect.fnUntraced(function* () {
      const server = yield* start(tls(""))
      const url = `tls://127.0.0.1:${server.port}`
      const ca = join(server.folder, "ca.pem")
      yield* connected(yield* nodeOn({ ...readNatsUrls(url), files: { ca } }))
      const mistrusting = yield* nodeOn(url)
      yield* until(() => mistrusting.log.some((line) => /certificate/.test(line)), "no word of the certificate")
      assert.strictEqual(mistrusting.bus.state(), "disconnected")
    })
  )

  test(
    "shows its own certificate where it is asked for one",
    Effect.fnUntraced(function* () {
      const server = yield* start(tls(", verify: true"))
      const settings = readNatsUrls(`tls://localhost:${server.port}`)
      const file = (name: string) => join(server.folder, name)
      yield* connected(
        yield* nodeOn({ ...settings, files: { ca: file("ca.pem"), cert: file("node.pem"), key: file("node.key") } })
      )
      const nameless = yield* nodeOn({ ...settings, files: { ca: file("ca.pem") } })
      yield* until(() => nameless.log.length > 0)
      assert.strictEqual(nameless.bus.state(), "disconnected")
    })
  )

  test(
    "speaks to no server without TLS where it is told to insist",
    Effect.fnUntraced(function* () {
      const server = yield* start("")
      const node = yield* nodeOn(`tls://127.0.0.1:${server.port}`)
      yield* until(() => node.log.some((line) => /tls/.test(line)))
      assert.strictEqual(node.bus.state(), "disconnected")
      assert.strictEqual(yield* metric("bus_state", `state="connected"`), 0)
    })
  )
})
