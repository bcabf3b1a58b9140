/** The document that a node serves: it lints, and a client generated from it compiles and works. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import openapiTypescript, { astToString } from "openapi-typescript"
import { sharedServer } from "../setup/server.ts"
import { fresh } from "./toolFixture.ts"

const root = join(import.meta.dirname, "../..")
/** In a folder that is never committed; test/http/generatedClient/tsconfig.json points here. */
const folder = join(root, "node_modules/.cache/openapi")
const client = join(import.meta.dirname, "generatedClient")

/** Output of a Node process; a failure shows what it printed. */
const node = async (args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  try {
    return await promisify(execFile)(process.execPath, [...args], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: "", ...env }
    })
  } catch (error) {
    if (error instanceof Error && "stdout" in error && "stderr" in error)
      throw new Error(`${args.join(" ")}\n${error.stdout}\n${error.stderr}`)
    throw error
  }
}

const server = await sharedServer()
const served = await server.anonymous.get("/v1/openapi.json")
assert.strictEqual(served.status, 200)
await mkdir(folder, { recursive: true })
await writeFile(join(folder, "openapi.json"), served.text)
await writeFile(join(folder, "document.d.ts"), astToString(await openapiTypescript(served.text)))

it("lints without an error or a warning", { timeout: 60_000 }, async () => {
  // Its own server of schemas and its telemetry stay off: nothing leaves the machine.
  const { stdout } = await node(
    [
      "node_modules/@redocly/cli/bin/cli.js",
      "lint",
      "--extends=recommended-strict",
      "--format=json",
      join(folder, "openapi.json")
    ],
    {
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true"
    }
  )
  const { problems, totals } = JSON.parse(stdout)
  assert.deepStrictEqual({ problems, totals }, { problems: [], totals: { errors: 0, warnings: 0, ignored: 0 } })
})

it("makes a client that compiles under our own options", { timeout: 60_000 }, async () => {
  await node(["node_modules/typescript-7/bin/tsc", "--noEmit", "-p", client])
})

it("makes clients by hey-api and by orval, with its schemas, that compile", { timeout: 120_000 }, async () => {
  const others = join(folder, "others")
  await rm(others, { recursive: true, force: true })
  await node([join(client, "generate.ts"), join(folder, "openapi.json"), others])
  assert.deepStrictEqual(await readdir(join(others, "orval")), ["fetch.ts", "zod.ts"])
  assert.include(await readFile(join(others, "hey-api/sdk.gen.ts"), "utf8"), "/v1/threads/{threadId}/messages")
  await node(["node_modules/typescript-7/bin/tsc", "-p", join(client, "others")])
})

it("makes a client that tours the interface", { timeout: 60_000 }, async () => {
  const { token = "" } = await server.client(await server.workspace(fresh("tour")))
  const { stdout } = await node([join(client, "tour.ts")], { TROUPE_URL: server.base, TROUPE_KEY: token })
  assert.strictEqual(stdout, "the tour is over\n")
})
