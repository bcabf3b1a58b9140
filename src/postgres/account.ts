/** Which operating system account runs PostgreSQL: it refuses to run as root. */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"

export interface Account {
  readonly uid: number
  readonly gid: number
}

const run = promisify(execFile)

const find = async (): Promise<Account | undefined> => {
  const line = (await readFile("/etc/passwd", "utf8")).split("\n").find((l) => l.startsWith("postgres:"))
  const [, , uid, gid] = line?.split(":") ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** The user postgres where we are root (created if missing); undefined where we are not: our own account will do. */
export const account = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const known = await find()
  if (known !== undefined) return known
  try {
    await run("useradd", [
      "--system",
      "--user-group",
      "--no-create-home",
      "--home-dir",
      "/var/lib/postgresql",
      "--shell",
      "/usr/sbin/nologin",
      "postgres"
    ])
  } catch (cause) {
    // Another process may have been quicker.
    const made = await find()
    if (made !== undefined) return made
    throw new Error(
      "PostgreSQL does not run as root, and the user postgres could not be created. " +
        "Create it (useradd --system postgres), run as another user, or set TROUPE_DATABASE_URL.",
      { cause }
    )
  }
  const made = await find()
  if (made === undefined) throw new Error("useradd succeeded, but /etc/passwd has no user postgres")
  return made
}
