/** `npm start` in a clone inside root's home, where the user postgres cannot reach even its own programs. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { access, chmod, cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { Child } from "./Child.ts"

const run = promisify(execFile)
const project = resolve(import.meta.dirname, "..", "..")
const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot)("a clone inside a home of mode 0700 (needs root)", () => {
  let home: string
  let clone: string
  let postgres: string | undefined

  beforeAll(async () => {
    home = await mkdtemp(join(homedir(), "troupe-clone-"))
    await chmod(home, 0o700)
    clone = join(home, "troupe")
    await mkdir(clone, { mode: 0o700 })
    for (const name of ["package.json", "src", "machines", "actors", "http"])
      await cp(join(project, name), join(clone, name), { recursive: true })
    // Hard links where the file system allows: the way to a file decides who may read it.
    const modules = await realpath(join(project, "node_modules"))
    await run("cp", ["-al", modules, clone]).catch(() => run("cp", ["-a", modules, clone]))
  })
  afterAll(async () => {
    await rm(home, { recursive: true, force: true })
    if (postgres !== undefined) await rm(dirname(postgres), { recursive: true, force: true })
  })

  it("starts from a copy of the programs, answers, keeps its data there, and ends without a trace", async () => {
    const start = () =>
      new Child("npm", ["start"], {
        cwd: clone,
        env: {
          TROUPE_PORT: "0",
          TROUPE_DATA: undefined,
          TROUPE_DATABASE_URL: undefined,
          PATH: `${join(clone, "node_modules", ".bin")}:${process.env.PATH}`
        }
      })
    const first = start()
    try {
      const [, base = ""] = await first.until(/API\s+(http:\S+)/)
      await first.until(/^curl .*\n/m)
      const [, programs = "", data = ""] =
        /PostgreSQL runs from (\S+) with its data in ([^\s"]+)/.exec(first.output) ?? []
      assert.match(programs, /^\/var\/lib\/troupe\/\d/)
      assert.match(data, /^\/var\/lib\/troupe\/[0-9a-f]{16}\/postgres$/)
      postgres = data
      assert.strictEqual((await fetch(`${base}/healthz`)).status, 200)
      assert.strictEqual((await fetch(`${base}/readyz`)).status, 200)
      const key = (await readFile(join(clone, ".troupe", "dev-key"), "utf8")).trim()
      assert.strictEqual((await fetch(`${base}/v1/auth`, { headers: { authorization: `Bearer ${key}` } })).status, 200)
    } finally {
      await first.end("SIGTERM")
    }
    await access(join(postgres ?? "", "postmaster.pid")).then(
      () => assert.fail("PostgreSQL was left running"),
      () => {}
    )

    const second = start()
    await second.until(/^curl .*\n/m)
    await second.end("SIGINT")
  })
})
