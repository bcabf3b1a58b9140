/**
 * The tours of the documents, word for word: the blocks of one run one after the other in one bash. The README and the
 * tour start, kill and stop their server themselves. The others begin and end with the tour's own lines, and share a
 * server that is up: for them `npm start` has nothing to do, and the last one alone stops it. A line `# -> text` must
 * appear in what its block prints, after the one before it; `…` stands for anything.
 */
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Child } from "./Child.ts"

const project = resolve(import.meta.dirname, "..", "..")

const has = (program: string) => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const freePort = () =>
  new Promise<number>((found, failed) => {
    const server = createServer()
      .once("error", failed)
      .listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => found(typeof address === "object" && address !== null ? address.port : 0))
      })
  })

const tourOf = (text: string) => {
  const tour = /<!-- tour -->(.*)<!-- \/tour -->/s.exec(text)?.[1] ?? assert.fail("the document has no tour")
  return [...tour.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block)
}

const expectedIn = (block: string) => [...block.matchAll(/^# -> (.*)$/gm)].map(([, text = ""]) => text)

const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** The texts that do not follow each other in the output, the first of them at least. */
const missing = (output: string, expected: ReadonlyArray<string>) => {
  let from = 0
  for (const text of expected) {
    const match = new RegExp(text.split("…").map(quoted).join(".*?")).exec(output.slice(from))
    if (match === null) return text
    from += match.index + match[0].length
  }
  return undefined
}

const mark = (block: number) => `=== end of block ${block} ===`

/** The two lines that the server says to paste: pasted before the tour stops it. */
const pasted = `sh -c "$(grep -m 1 -A 1 '^answer=' "$TROUPE_DATA/server.log")"`

interface Tour {
  readonly document: string
  readonly what: string
  /** More blocks than these. */
  readonly least: number
}

interface Place {
  readonly folder: string
  readonly data: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const makePlace = async (): Promise<Place> => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-tour-"))
  await chmod(folder, 0o755)
  const data = join(folder, "data")
  const env = {
    TROUPE_PORT: String(await freePort()),
    TROUPE_DATA: data,
    TROUPE_DATABASE_URL: undefined,
    TROUPE_DEV_KEY: undefined,
    TROUPE_ENCRYPTION_KEYS: undefined,
    TROUPE_LEASE_TTL_MS: undefined,
    TROUPE_LOG_FORMAT: undefined,
    TROUPE_MODELS: undefined
  }
  return { folder, data, env }
}

const leave = async ({ data, folder }: Place) => {
  const [pid] = (await readFile(join(data, "server.pid"), "utf8").catch(() => "")).split(" ")
  if (Number(pid) > 0) process.kill(Number(pid), "SIGTERM")
  await rm(folder, { recursive: true, force: true })
}

const blocksOf = async ({ document, least }: Tour) => {
  const blocks = tourOf(await readFile(join(project, document), "utf8"))
  assert.isAbove(blocks.length, least)
  for (const block of blocks) assert.isNotEmpty(expectedIn(block), block)
  return blocks
}

/** What each block printed, by its number, of blocks that all came to their end. */
const walk = async (blocks: ReadonlyArray<readonly [number, string]>, { env }: Place, before = "") => {
  const script = blocks.flatMap(([i, block]) => [block, `echo; echo '${mark(i)}'`]).join("\n")
  // Anything left unset is a mistake in the document, not an empty text.
  const shell = new Child("bash", ["-u", "-c", `exec 2>&1\n${before}\n${script}`], { cwd: project, env })
  const late = setTimeout(() => shell.process.kill("SIGKILL"), 180_000)
  const code = await shell.ended().finally(() => clearTimeout(late))
  const parts = new Map<number, string>()
  let from = 0
  for (const match of shell.output.matchAll(/^=== end of block (-?\d+) ===$/gm)) {
    parts.set(Number(match[1]), shell.output.slice(from, match.index))
    from = match.index + match[0].length
  }
  for (const [i, block] of blocks) {
    const output = parts.get(i) ?? assert.fail(`block ${i} did not end:\n${block}\n${shell.output.slice(from)}`)
    assert.isUndefined(missing(output, expectedIn(block)), `not in the output of\n${block}\nwhich was\n${output}`)
  }
  assert.strictEqual(code, 0)
  return parts
}

const numbered = (blocks: ReadonlyArray<string>) => blocks.map((block, i) => [i, block] as const)

const readme: Tour = {
  document: "README.md",
  what: "the lines that the README shows work as they stand",
  least: 0
}
const tour: Tour = {
  document: "docs/tour.md",
  what: "the tour works as it stands, and so do the lines that the server prints",
  least: 10
}

describe.skipIf(!has("bash") || !has("curl"))("a tour with a server of its own (needs bash and curl)", () => {
  let place: Place
  beforeEach(async () => {
    place = await makePlace()
  })
  afterEach(() => leave(place))

  it(readme.what, async () => {
    await walk(numbered(await blocksOf(readme)), place)
  })

  it(tour.what, async () => {
    const blocks = numbered(await blocksOf(tour))
    const parts = await walk([...blocks.slice(0, -1), [-1, pasted], ...blocks.slice(-1)], place)
    assert.match(
      parts.get(-1) ?? "",
      /^\s*\{.*"thread":\{"id":"thr_.*"state":"admitted".*\n"text":"You said: Hello, Troupe"\n/s
    )
  })
})

describe.skipIf(!has("bash") || !has("curl"))("a tour beside others (needs bash and curl)", () => {
  let place: Place
  let server: Child
  beforeAll(async () => {
    place = await makePlace()
    server = new Child("npm", ["start"], { cwd: project, env: place.env })
    await server.until(/^curl .*\n/m)
  }, 120_000)
  afterAll(async () => {
    await leave(place)
    await server.ended()
  })

  /** Starts a server where there is none. In the background, as tours call it, and killed as npm itself would be. */
  const npm = `npm() {
    if [ "$*" = start ] && curl -sf "http://127.0.0.1:$TROUPE_PORT/readyz" > /dev/null; then return; fi
    exec npm "$@"
  }`
  const stop = ` "$(cut -d ' ' -f 1 "$TROUPE_DATA/server.pid")"; wait; echo stopped\n# -> stopped\n`

  const begun = async (one: Tour) => {
    const blocks = await blocksOf(one)
    const [first = ""] = await blocksOf(tour)
    const beginning = first.split("\n").slice(0, 3)
    assert.match(beginning.join("\n"), /\nnpm start > "\$TROUPE_DATA\/server.log" 2>&1 &$/)
    assert.deepStrictEqual(blocks[0]?.split("\n").slice(0, 3), beginning)
    const last = blocks.at(-1) ?? ""
    assert.isTrue(last.endsWith(stop), last)
    return { blocks, last }
  }

  const tours: ReadonlyArray<Tour> = [
    { document: "docs/budgets.md", what: "the tour of budgets works as it stands", least: 5 },
    { document: "docs/feeds.md", what: "the tour of feeds works as it stands", least: 4 },
    { document: "docs/images.md", what: "the tour of images works as it stands", least: 4 },
    { document: "docs/schedules.md", what: "the tour of schedules works as it stands", least: 4 },
    { document: "docs/subscriptions.md", what: "the tour of subscriptions works as it stands", least: 4 },
    { document: "docs/tour-newsroom.md", what: "the tour of a newsroom works as it stands", least: 4 },
    { document: "docs/memory.md", what: "the tour of memory works as it stands", least: 7 }
  ]
  it.concurrent.each(tours)("$what", async (one) => {
    const { blocks, last } = await begun(one)
    // The server stays for the others; what the tour itself has started, it stops.
    const own = last.slice(0, -stop.length)
    const left = `${own.endsWith("kill") ? own.slice(0, -"kill".length) : own}\nwait; echo stopped\n# -> stopped\n`
    await walk(numbered([...blocks.slice(0, -1), left]), place, npm)
  })

  it("the tour of approvals works as it stands, kills the server, and stops the one that it starts", async () => {
    const one = { document: "docs/approvals.md", what: "", least: 8 }
    await walk(numbered((await begun(one)).blocks), place, npm)
  })
})
