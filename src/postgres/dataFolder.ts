/**
 * The data folder of a development server: whoever owns it can enter it, and nobody else but PostgreSQL's own account.
 */
import { chmod, chown, mkdir, stat } from "node:fs/promises"
import type { Account } from "./account.ts"

/**
 * Made if it is missing; one that stands open is closed. Not so a folder of somebody else, or one that many share
 * (with the sticky bit, as /tmp): it was not made for us.
 */
export const ensureDataFolder = async (path: string, account?: Account) => {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const found = await stat(path)
  if (process.getuid === undefined || found.uid !== process.getuid() || (found.mode & 0o1000) !== 0) return
  if (account !== undefined) await chown(path, found.uid, account.gid)
  // As root, PostgreSQL runs as another user, which has to pass.
  const mode = account !== undefined ? 0o710 : found.mode & (process.getuid() === 0 && found.gid !== 0 ? 0o710 : 0o700)
  if ((found.mode & 0o7777) !== mode) await chmod(path, mode)
}
