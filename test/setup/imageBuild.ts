/**
 * Builds an image's files without Docker: each stage is a folder, and the instructions of a Dockerfile run in it. The
 * machine's own programs take the place of the base image's, so commands have to name files by relative paths. What is
 * not known here is refused, not passed over.
 */
import { execFile } from "node:child_process"
import { mkdir, stat, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

interface Stage {
  readonly image: string
  readonly folder: string
  workdir: string
  env: Readonly<Record<string, string>>
  command: ReadonlyArray<string>
}

export interface Built extends Readonly<Stage> {
  /** The images that stages begin from. */
  readonly bases: ReadonlyArray<string>
}

/** One logical line each: no comments, continued lines joined. */
export const instructions = (dockerfile: string) =>
  dockerfile
    .split("\n")
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => {
      const [, word = "", rest = ""] = /^\s*(\w+)\s+(.*)$/.exec(line) ?? []
      return { word: word.toUpperCase(), rest: rest.trim() }
    })

/** Copies as COPY does: a folder's content, a file under its name where the target is a folder. */
const copy = async (from: string, to: string, isFolder: boolean, linked: boolean) => {
  const content = (await stat(from)).isDirectory()
  await mkdir(content || isFolder ? to : dirname(to), { recursive: true })
  // What another stage has made is not written again: hard links are a tenth of the time.
  await run("cp", [linked ? "-RPl" : "-RP", content ? `${from}/.` : from, to])
}

/**
 * Builds the last stage under `scratch` from the files of `context`. Commands run with `env` beside the image's own; in a
 * stage of the builder's own platform (`--platform=$BUILDPLATFORM`), with this process's. What `npm ci` installs there is
 * what it has installed in `context`, from the same lock and for the same platform, and is linked.
 */
export const buildImage = async (
  dockerfile: string,
  context: string,
  scratch: string,
  target: Readonly<Record<string, string | undefined>>
): Promise<Built> => {
  const named = new Map<string, Stage>()
  const bases: Array<string> = []
  let current: Stage | undefined
  let env = target
  let isOwn = false
  for (const { rest, word } of instructions(dockerfile)) {
    if (word === "FROM") {
      const [, own = "", image = "", name = ""] =
        /^(--platform=\$BUILDPLATFORM\s+)?(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? []
      if (image === "" || named.has(image)) throw new Error(`FROM ${rest}`)
      current = { image, folder: join(scratch, String(bases.length)), workdir: "/", env: {}, command: [] }
      isOwn = own !== ""
      env = isOwn ? process.env : target
      bases.push(image)
      await mkdir(current.folder)
      if (name !== "") named.set(name, current)
      continue
    }
    const stage = current
    if (stage === undefined) throw new Error(`${word} before FROM`)
    const inside = (path: string) => join(stage.folder, path.startsWith("/") ? path : join(stage.workdir, path))
    const words = rest.split(/\s+/)
    switch (word) {
      case "WORKDIR":
        stage.workdir = rest
        await mkdir(inside("."), { recursive: true })
        break
      case "ENV":
        stage.env = { ...stage.env, ...Object.fromEntries(words.map((pair) => pair.split("=", 2))) }
        break
      case "COPY": {
        const flags = words.filter((part) => part.startsWith("--"))
        const paths = words.filter((part) => !part.startsWith("--"))
        const unknown = flags.filter((flag) => !/^--(from|chown)=/.test(flag))
        const to = paths.pop()
        if (unknown.length > 0 || to === undefined || paths.length === 0) throw new Error(`COPY ${rest}`)
        const name = flags.find((flag) => flag.startsWith("--from="))?.slice("--from=".length)
        const from = name === undefined ? context : named.get(name)?.folder
        if (from === undefined) throw new Error(`COPY from ${name}, which is no stage`)
        const isFolder = to.endsWith("/") || to.endsWith(".")
        if (paths.length > 1 && !isFolder)
          throw new Error(`COPY ${rest}: several files go to a folder, with a / at its end`)
        for (const path of paths) await copy(join(from, path), inside(to), isFolder, from !== context)
        break
      }
      case "RUN":
        if (isOwn && rest === "npm ci --ignore-scripts")
          await symlink(join(context, "node_modules"), inside("node_modules"))
        else await run("sh", ["-c", rest], { cwd: inside("."), env: { ...env, ...stage.env } })
        break
      case "CMD": {
        const command: unknown = JSON.parse(rest)
        if (!Array.isArray(command)) throw new Error(`CMD ${rest}`)
        stage.command = command.map(String)
        break
      }
      case "USER":
      case "EXPOSE":
        break
      default:
        throw new Error(`${word} is not known here`)
    }
  }
  if (current === undefined) throw new Error("no FROM")
  return { ...current, bases }
}
