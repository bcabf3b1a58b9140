/**
 * What the tests of a file, or of a `describe`, stand on: begun at its top, where it is named, and ended after the last
 * of its tests, what was begun last first.
 *
 *     const server = await during(startServer({ idleMs: 50 }))
 *     const mcp = await during(startMcpServer())
 *
 * A fixture that several files share says it for them all (`judgedStand`). It is begun also where no test is run, as by
 * `-t`: what takes long, or is not there everywhere, is begun by hooks.
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

/** An empty folder, which goes with all that is in it then. */
export const folderDuring = (name: string) =>
  during(mkdtemp(join(tmpdir(), `troupe-${name}-`)), (folder) => rm(folder, { recursive: true, force: true }))
