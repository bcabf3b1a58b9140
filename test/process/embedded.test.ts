/** The embedded PostgreSQL, held by real processes that end in every way a process can. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { access, chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { isAlive } from "../../src/postgres/alive.ts"
import { halt } from "../../src/postgres/cluster.ts"
import { Child } from "./Child.ts"

const program = resolve(import.meta.dirname, "embeddedServer.ts")

interface Up {
  readonly child: Child
  readonly url: string
  readonly pid: number
  readonly folder: string
  readonly ms: number
}

let home: string
let children: Array<Child>

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "troupe-embedded-"))
  await chmod(home, 0o755)
  children = []
})
afterEach(async () => {
  await Promise.all(children.map((child) => child.end("SIGTERM")))
  await rm(home, { recursive: true, force: true })
})

const spawn = (...wrapper: ReadonlyArray<string>) => {
  const [command = process.execPath, ...args] = [...wrapper, process.execPath, program, join(home, "data")]
  const child = new Child(command, args)
  children.push(child)
  return child
}
/** The parent of what it starts never asks what became of it, as the first process of a container that is no reaper. */
const careless = ["sh", "-c", `"$@" & exec sleep 600`, "sh"]
const start = async (...wrapper: ReadonlyArray<string>): Promise<Up> => {
  const child = spawn(...wrapper)
  const [line] = await child.until(/^\{"url".*\}$/m)
  return { child, ...JSON.parse(line) }
}
const query = async (url: string, sql: string) => {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
/** kill -9 of a process whose parent is careless. */
const makeZombie = async (pid: number) => {
  process.kill(pid, "SIGKILL")
  while (!/\) Z /.test(await readFile(`/proc/${pid}/stat`, "utf8"))) await sleep(5)
}
const gone = async (pid: number) => {
  while (await isAlive(pid)) await sleep(5)
}

describe("the embedded PostgreSQL", () => {
  it("keeps its data, port and password, syncs, and ends with its server on SIGTERM and SIGINT", async () => {
    const first = await start()
    await query(first.url, "create table kept (n int); insert into kept values (42)")
    const [settings] = await query(
      first.url,
      "select current_setting('fsync') as fsync, current_setting('timezone') as zone, getdatabaseencoding() as encoding, current_setting('listen_addresses') as address"
    )
    assert.deepStrictEqual(settings, { fsync: "on", zone: "UTC", encoding: "UTF8", address: "127.0.0.1" })
    assert.strictEqual((await stat(join(home, "data", "embedded.json"))).mode & 0o777, 0o600)
    await first.child.end("SIGTERM")
    assert.isFalse(await isAlive(first.pid))

    const second = await start()
    assert.strictEqual(second.url, first.url)
    assert.isBelow(second.ms, 4_000)
    assert.deepStrictEqual(await query(second.url, "select n from kept"), [{ n: 42 }])
    await second.child.end("SIGINT")
    assert.isFalse(await isAlive(second.pid))
    await access(join(home, "data", "server.pid")).then(
      () => assert.fail("the lock was left behind"),
      () => {}
    )
  })

  it("is taken over by the next server when its own was killed, is the only one, and ends with one that leaves at once", async () => {
    const first = await start()
    await query(first.url, "create table kept (n int); insert into kept values (1)")
    await first.child.end("SIGKILL")
    assert.isTrue(await isAlive(first.pid))
    const second = await start()
    assert.strictEqual(second.pid, first.pid)
    assert.deepStrictEqual(await query(second.url, "select n from kept"), [{ n: 1 }])
    await second.child.end("SIGUSR2")
    await gone(first.pid)
  })

  it("recovers what was committed when it was killed along with its server", async () => {
    const first = await start()
    await query(first.url, "create table kept (n int); insert into kept select generate_series(1, 1000)")
    process.kill(first.pid, "SIGKILL")
    await first.child.end("SIGKILL")
    await gone(first.pid)
    const second = await start()
    assert.deepStrictEqual(await query(second.url, "select count(*)::int as n from kept"), [{ n: 1000 }])
  })

  it("starts although postmaster.pid names a process that is another one now", async () => {
    const first = await start()
    const path = join(first.folder, "postmaster.pid")
    const text = await readFile(path, "utf8")
    process.kill(first.pid, "SIGKILL")
    await first.child.end("SIGKILL")
    await gone(first.pid)
    await writeFile(path, text.replace(/^\d+/, String(process.pid)))
    const second = await start()
    assert.notStrictEqual(second.pid, first.pid)
  })

  it("is taken over from a server that was killed and that nobody has reaped", async () => {
    const first = await start(...careless)
    await query(first.url, "create table kept (n int); insert into kept values (3)")
    const server = Number((await readFile(join(home, "data", "server.pid"), "utf8")).split(" ")[0])
    await makeZombie(server)
    const second = await start()
    assert.strictEqual(second.pid, first.pid)
    assert.deepStrictEqual(await query(second.url, "select n from kept"), [{ n: 3 }])
  })

  it("starts although postmaster.pid names a process that was killed and that nobody has reaped", async () => {
    const first = await start()
    const path = join(first.folder, "postmaster.pid")
    const text = await readFile(path, "utf8")
    process.kill(first.pid, "SIGKILL")
    await first.child.end("SIGKILL")
    await gone(first.pid)
    const other = new Child("sh", ["-c", "sleep 600 & echo pid $!; exec sleep 600"])
    children.push(other)
    const [, pid] = await other.until(/pid (\d+)/)
    // Until then it is a shell, which reaps.
    while ((await readFile(`/proc/${other.process.pid}/comm`, "utf8")) !== "sleep\n") await sleep(5)
    await makeZombie(Number(pid))
    await writeFile(path, text.replace(/^\d+/, String(pid)))
    const second = await start()
    assert.strictEqual((await query(second.url, "select 1 as one")).length, 1)
    // Whoever waits for such a process to end has waited long enough.
    await halt(Number(pid))
  })

  it("refuses a second server on the same folder, and names the first", async () => {
    const first = await start()
    const second = spawn()
    assert.strictEqual(await second.ended(), 1)
    assert.match(second.output, new RegExp(`another server \\(pid ${first.child.process.pid}\\)`))
    assert.strictEqual((await query(first.url, "select 1 as one")).length, 1)
  })

  // Where we are not root, PostgreSQL runs as ourselves, and there is nothing to be reached.
  it.skipIf(process.getuid?.() !== 0)(
    "puts its data where the user postgres can reach it when the folder is in a home of mode 0700, and says so (needs root)",
    async () => {
      await chmod(home, 0o700)
      const first = await start()
      try {
        assert.match(first.folder, /^\/var\/lib\/troupe\/[0-9a-f]{16}\/postgres$/)
        assert.match(first.child.output, /The user postgres cannot enter this folder/)
        assert.strictEqual((await stat(first.folder)).mode & 0o777, 0o700)
        await query(first.url, "create table kept (n int); insert into kept values (7)")
        await first.child.end()
        const second = await start()
        assert.strictEqual(second.folder, first.folder)
        assert.deepStrictEqual(await query(second.url, "select n from kept"), [{ n: 7 }])
        await second.child.end()
        // It stays where it is when that user could enter the folder by now.
        await chmod(home, 0o755)
        const third = await start()
        assert.strictEqual(third.folder, first.folder)
        await third.child.end()
      } finally {
        await Promise.all(children.map((child) => child.end()))
        await rm(dirname(first.folder), { recursive: true, force: true })
      }
    }
  )
})
