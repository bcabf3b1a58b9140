/** The key of a development server whose output goes to a pipe: it says where the key is kept. */
import { readFile } from "node:fs/promises"
import type { Child } from "./Child.ts"

export const devKeyOf = async (server: Child): Promise<string> => {
  const [, path = ""] = await server.until(/Key +(\S.*)$/m)
  return (await readFile(path, "utf8")).trim()
}
