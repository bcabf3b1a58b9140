/** The environment of a process that shall take itself for one of another platform, or of another Node. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const preloaded = pathToFileURL(join(import.meta.dirname, "elsewhere.mjs")).href

export const elsewhere = (to: { readonly platform?: string; readonly arch?: string; readonly node?: string }) => ({
  ...process.env,
  NODE_OPTIONS: `--import=${preloaded}`,
  ELSEWHERE_PLATFORM: to.platform,
  ELSEWHERE_ARCH: to.arch,
  ELSEWHERE_NODE: to.node
})
