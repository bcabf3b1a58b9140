/**
 * `npm run openapi`: writes docs/openapi.json, the interface as it is committed, and the client's types. A change that
 * breaks clients is not written, but told; `npm run openapi -- --breaking` writes it all the same, so that the review
 * sees it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { committedTypes, makeTypes } from "../client/types.ts"
import { breaks } from "./breaking.ts"
import { committed, document, documentText } from "./document.ts"

const broken = existsSync(committed) ? breaks(JSON.parse(readFileSync(committed, "utf8")), document) : []
if (broken.length > 0) console.error(`This breaks clients of /v1:\n${broken.join("\n")}`)
if (broken.length > 0 && !process.argv.includes("--breaking")) process.exitCode = 1
else {
  writeFileSync(committed, documentText)
  writeFileSync(committedTypes, await makeTypes())
}
