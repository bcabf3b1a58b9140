/**
 * The nats-server of a local cluster: found on PATH, on loopback, its files in the data folder. Only a token that is
 * made anew each time lets anybody use it.
 */
import { Effect, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { freePort, halt } from "../postgres/cluster.ts"
import { ensureDataFolder } from "../postgres/dataFolder.ts"
import { failure } from "./failure.ts"
import type { Program } from "./kept.ts"

const howToGetOne = `A cluster needs NATS, and nats-server is not on PATH. Get it by one of
  apt-get install nats-server
  brew install nats-server
  https://github.com/nats-io/nats-server/releases
or give the URL of one that runs in TROUPE_NATS_URL. One node needs none: npm start.`

/** Fails with what to do where there is none. */
export const requireNatsServer = Effect.suspend(() =>
  spawnSync("nats-server", ["--version"], { stdio: "ignore" }).status === 0
    ? Effect.void
    : Effect.fail(failure(howToGetOne))
)

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/** One that outlived us (kill -9) is ended, if it is ours. */
const endOld = async (pidFile: string, config: string) => {
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).trim())
  if (!(pid > 0)) return
  const { stdout } = spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" })
  if (stdout?.includes(config) === true) await halt(pid)
}

export interface NatsServer {
  readonly url: Redacted.Redacted<string>
  readonly program: Program
}

export const prepareNatsServer = Effect.fn("cli.prepareNatsServer")(function* (dataFolder: string) {
  return yield* Effect.tryPromise({
    try: async (): Promise<NatsServer> => {
      const [config, pid, log] = [
        join(dataFolder, "nats.conf"),
        join(dataFolder, "nats.pid"),
        join(dataFolder, "nats.log")
      ]
      await ensureDataFolder(dataFolder)
      await endOld(pid, config)
      const port = await freePort()
      const token = randomBytes(18).toString("base64url")
      await writeFile(
        config,
        [
          `listen: "127.0.0.1:${port}"`,
          `authorization { token: ${JSON.stringify(token)} }`,
          `pid_file: ${JSON.stringify(pid)}`,
          `log_file: ${JSON.stringify(log)}`,
          ""
        ].join("\n"),
        { mode: 0o600 }
      )
      return {
        url: Redacted.make(`nats://${token}@127.0.0.1:${port}`),
        program: {
          name: "nats ",
          command: "nats-server",
          args: ["-c", config],
          shown: false,
          listens: false,
          isReady: () => accepts(port),
          patienceMs: 2_000
        }
      }
    },
    catch: (cause) => failure(`The data folder ${dataFolder} cannot be used. Give another in TROUPE_DATA.`, cause)
  })
})
