/**
 * A nats-server of its own for a test file: found on PATH, or installed from Debian's packages. Loopback
 * only. It hangs on a pipe of this process: however the run ends, kill -9 included, it ends too.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "../../src/postgres/cluster.ts"

const installed = () => {
  try {
    execFileSync("nats-server", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Fails loudly: what says that it was tested over NATS was. */
export const requireNats = () => {
  if (installed()) return
  if (process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    // Another test file may be installing it at this moment.
    const apt = (...args: ReadonlyArray<string>) =>
      execFileSync("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], {
        env,
        stdio: ["ignore", "ignore", "inherit"]
      })
    apt("update", "-q")
    apt("install", "-y", "-q", "--no-install-recommends", "nats-server")
  }
  if (!installed())
    throw new Error(
      "these tests need nats-server on PATH: apt-get install nats-server, brew install nats-server, or https://github.com/nats-io/nats-server/releases"
    )
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/** Ends with its standard input; its first line tells the server's pid. */
const keeper = `nats-server "$@" & server=$!; echo $server; cat > /dev/null; kill -CONT $server; kill -KILL $server; wait $server`

export class NatsServer {
  readonly port: number
  readonly folder: string
  #keeper: ChildProcess | undefined
  #pid = 0
  #log = ""

  private constructor(port: number, folder: string) {
    this.port = port
    this.folder = folder
  }

  /** `config` is added to the server's own configuration; relative paths in it are of `folder`. */
  static async start(config: string | ((folder: string) => Promise<string>) = "", port?: number): Promise<NatsServer> {
    requireNats()
    const server = new NatsServer(port ?? (await freePort()), await mkdtemp(join(tmpdir(), "troupe-nats-")))
    const more = typeof config === "string" ? config : await config(server.folder)
    await writeFile(join(server.folder, "nats.conf"), `listen: "127.0.0.1:${server.port}"\n${more}\n`)
    await server.again()
    return server
  }

  /** What this life of it has logged, the last of it. */
  get log() {
    return this.#log
  }

  get url() {
    return `nats://127.0.0.1:${this.port}`
  }

  /** Up again on the same port, after `kill`. */
  async again() {
    const child = spawn("sh", ["-c", keeper, "sh", "-c", join(this.folder, "nats.conf")], {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true
    })
    this.#keeper = child
    this.#log = ""
    child.stderr.on("data", (bytes: Buffer) => {
      this.#log = (this.#log + bytes.toString()).slice(-10_000)
    })
    this.#pid = await new Promise<number>((resolve, reject) => {
      child.once("error", reject)
      child.stdout.once("data", (bytes: Buffer) => resolve(Number.parseInt(bytes.toString(), 10)))
    })
    for (const until = performance.now() + 10_000; !(await accepts(this.port)); await sleep(5)) {
      if (performance.now() > until) throw new Error(`nats-server does not start:\n${this.#log}`)
    }
  }

  /** As kill -9. */
  async kill() {
    const child = this.#keeper
    if (child === undefined) return
    this.#keeper = undefined
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.stdin?.end()
    await gone
  }

  /** Holds it where it is (SIGSTOP), until called with false. */
  hold(held: boolean) {
    process.kill(this.#pid, held ? "SIGSTOP" : "SIGCONT")
  }

  async stop() {
    await this.kill()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Where the contract is tested: the server that TROUPE_TEST_NATS_URL names, or one of our own. */
export const natsForTests = async (): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  const url = process.env.TROUPE_TEST_NATS_URL
  if (url !== undefined && url !== "") return { url, stop: async () => {} }
  const server = await NatsServer.start()
  return { url: server.url, stop: () => server.stop() }
}
