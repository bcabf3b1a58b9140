/** The repository's own files, as the tests read them that hold these to each other. */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"

export const root = resolve(import.meta.dirname, "..")
export const textOf = (file: string) => readFileSync(join(root, file), "utf8")

/** Where a document breaks its lines says nothing. */
export const onOneLine = (text: string) => text.replaceAll(/\s*\n\s*/g, " ")
/** A number as documents write it. */
export const said = (figure: number) => figure.toLocaleString("en-US")
