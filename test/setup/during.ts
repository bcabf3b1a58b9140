/**
 * Begins what the tests of a file, or of a `describe`, stand on, and ends it after the last of them, in reverse order.
 * Call it at the top of the file or `describe`.
 *
 *     const server = await during(startServer({ idleMs: 50 }))
 *     const mcp = await during(startMcpServer())
 *
 * A fixture that several files share calls it for them (`judgedStand`). It begins also where `-t` runs no test: begin in
 * `beforeAll` what takes long or is not installed everywhere.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

type Begun = { readonly stop: () => unknown } | { readonly close: () => unknown }

const ended = (begun: Begun) => ("stop" in begun ? begun.stop() : begun.close())

export function during<A extends Begun>(beginning: Promise<A>): Promise<A>
export function during<A>(beginning: Promise<A>, end: (begun: A) => unknown): Promise<A>
export async function during(beginning: Promise<Begun>, end: (begun: Begun) => unknown = ended) {
  const begun = await beginning
  afterAll(async () => {
    await end(begun)
  })
  return begun
}

/** An empty folder, which is removed with all that is in it after the last test. */
export const folderDuring = (name: string) =>
  during(mkdtemp(join(tmpdir(), `troupe-${name}-`)), (folder) => rm(folder, { recursive: true, force: true }))
