/** A nats-server for the fault suite, killed and started again at will. */
import { execFileSync } from "node:child_process"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Child } from "../process/Child.ts"
import { freePort } from "../../src/postgres/cluster.ts"
import { forgetProcess, guardProcess } from "./guarded.ts"

const installed = () => {
  try {
    execFileSync("nats-server", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const install = () => {
  if (installed()) return
  if (process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    for (const args of [["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", "nats-server"]]) {
      execFileSync("apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] })
    }
  }
  if (!installed()) throw new Error("the fault suite needs nats-server on PATH: apt-get install nats-server")
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

export class Nats {
  readonly port: number
  #child: Child

  private constructor(port: number, child: Child) {
    this.port = port
    this.#child = child
  }

  static async start(): Promise<Nats> {
    install()
    const port = await freePort()
    return new Nats(port, await Nats.#up(port))
  }

  static async #up(port: number) {
    const child = new Child("nats-server", ["-a", "127.0.0.1", "-p", String(port)])
    guardProcess(child.process.pid)
    for (const until = performance.now() + 10_000; !(await accepts(port)); await sleep(10)) {
      if (performance.now() > until) throw new Error(`nats-server does not start:\n${child.output}`)
    }
    return child
  }

  async kill() {
    await this.#child.end("SIGKILL")
    forgetProcess(this.#child.process.pid)
  }

  async again() {
    this.#child = await Nats.#up(this.port)
  }
}
