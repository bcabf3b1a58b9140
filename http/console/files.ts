/** The console's files as its build has left them, read once: there are few, and each was compressed then. */
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"

export const encodings = { br: ".br", gzip: ".gz" } as const
export type Encoding = keyof typeof encodings

export interface Asset {
  readonly type: string
  readonly identity: Uint8Array
  readonly encoded: Readonly<Partial<Record<Encoding, Uint8Array>>>
}

export interface ConsoleFiles {
  /** The page; `noncePlace` stands where the nonce of an answer belongs. */
  readonly page: string
  readonly assets: ReadonlyMap<string, Asset>
}

/** What the build writes in the place of a nonce (console/vite.config.ts). */
export const noncePlace = "TROUPE_NONCE"

export const builtConsole = join(import.meta.dirname, "../../console/dist")

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const assetsIn = (folder: string) => {
  const names = readdirSync(folder)
  const present = new Set(names)
  const read = (name: string) => readFileSync(join(folder, name))
  return new Map(
    names.flatMap((name): ReadonlyArray<readonly [string, Asset]> => {
      const type = types[extname(name)]
      if (type === undefined) return []
      const encoded = Object.entries(encodings).flatMap(([encoding, ending]) =>
        present.has(name + ending) ? [[encoding, read(name + ending)] as const] : []
      )
      return [[name, { type, identity: read(name), encoded: Object.fromEntries(encoded) }]]
    })
  )
}

/** Undefined where the console has not been built. */
export const readConsole = (folder: string): ConsoleFiles | undefined => {
  try {
    return { page: readFileSync(join(folder, "index.html"), "utf8"), assets: assetsIn(join(folder, "assets")) }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
