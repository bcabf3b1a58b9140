/**
 * Clients by other people's generators: `node generate.ts DOCUMENT FOLDER` writes hey-api's, orval's, and orval's zod schemas
 * into FOLDER. A process of its own: the generators print as they like, and leave things behind.
 */
import { createClient } from "@hey-api/openapi-ts"
import { join } from "node:path"
import { generate } from "orval"

const [document = "", folder = ""] = process.argv.slice(2)

await createClient({ input: document, output: join(folder, "hey-api"), logs: { level: "silent", file: false } })
for (const client of ["fetch", "zod"] as const) {
  await generate({ input: { target: document }, output: { target: join(folder, "orval", `${client}.ts`), client, mode: "single" } })
}
