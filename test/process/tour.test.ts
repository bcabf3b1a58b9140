/**
 * The tours of the documents, word for word: the blocks of one run one after the other in one bash, against the server
 * that they start, kill and stop themselves. A line `# -> text` must appear in what its block prints,
 * after the one before it; `…` stands for anything.
 */
import { assert, it } from "@effect/vitest"
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

const tours = [
  { document: "README.md", what: "the lines that the README shows work as they stand", least: 0, isPasted: false },
  {
    document: "docs/tour.md",
    what: "the tour works as it stands, and so do the lines that the server prints",
    least: 10,
    isPasted: true
  },
  { document: "docs/approvals.md", what: "the tour of approvals works as it stands", least: 8, isPasted: true },
  { document: "docs/budgets.md", what: "the tour of budgets works as it stands", least: 5, isPasted: true },
  { document: "docs/feeds.md", what: "the tour of feeds works as it stands", least: 4, isPasted: true },
  { document: "docs/images.md", what: "the tour of images works as it stands", least: 4, isPasted: true },
  { document: "docs/schedules.md", what: "the tour of schedules works as it stands", least: 4, isPasted: true },
  { document: "docs/subscriptions.md", what: "the tour of subscriptions works as it stands", least: 4, isPasted: true },
  { document: "docs/tour-newsroom.md", what: "the tour of a newsroom works as it stands", least: 4, isPasted: true },
  { document: "docs/memory.md", what: "the tour of memory works as it stands", least: 7, isPasted: true }
]

it.skipIf(!has("bash") || !has("curl")).each(tours)(
  "$what (needs bash and curl)",
  async ({ document, isPasted, least }) => {
    const blocks = tourOf(await readFile(join(project, document), "utf8"))
    assert.isAbove(blocks.length, least)
    for (const block of blocks) assert.isNotEmpty(expectedIn(block), block)
    const folder = await mkdtemp(join(tmpdir(), "troupe-tour-"))
    await chmod(folder, 0o755)
    const data = join(folder, "data")
    const script = blocks
      .flatMap((block, i) => [
        ...(isPasted && i === blocks.length - 1 ? [pasted, `echo; echo '${mark(-1)}'`] : []),
        block,
        `echo; echo '${mark(i)}'`
      ])
      .join("\n")
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
    const began = performance.now()
    // Anything left unset is a mistake in the document, not an empty text.
    const shell = new Child("bash", ["-u", "-c", `exec 2>&1\n${script}`], { cwd: project, env })
    const late = setTimeout(() => shell.process.kill("SIGKILL"), 180_000)
    try {
      const code = await shell.ended()
      const parts = new Map<number, string>()
      let from = 0
      for (const match of shell.output.matchAll(/^=== end of block (-?\d+) ===$/gm)) {
        parts.set(Number(match[1]), shell.output.slice(from, match.index))
        from = match.index + match[0].length
      }
      for (const [i, block] of blocks.entries()) {
        const output = parts.get(i) ?? assert.fail(`block ${i} did not end:\n${block}\n${shell.output.slice(from)}`)
        assert.isUndefined(missing(output, expectedIn(block)), `not in the output of\n${block}\nwhich was\n${output}`)
      }
      if (isPasted)
        assert.match(
          parts.get(-1) ?? "",
          /^\s*\{.*"thread":\{"id":"thr_.*"state":"admitted".*\n"text":"You said: Hello, Troupe"\n/s
        )
      assert.strictEqual(code, 0)
      console.log(`the tour of ${document} took ${Math.round((performance.now() - began) / 100) / 10} s`)
    } finally {
      clearTimeout(late)
      const [pid] = (await readFile(join(data, "server.pid"), "utf8").catch(() => "")).split(" ")
      if (Number(pid) > 0) process.kill(Number(pid), "SIGTERM")
      await rm(folder, { recursive: true, force: true })
    }
  }
)
