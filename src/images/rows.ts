/** Images as rows: their bytes once a workspace, and one row for each agent that they were uploaded for. */
import { sql } from "kysely"
import { ImageFormat } from "../domain/content.ts"
import { toUuid } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import type { Db, Tx } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import type { Image, Picture } from "./image.ts"
import { stay } from "./leaving.ts"

const prefix = "img_"
const bytesOf = (id: string) => Buffer.from(id.slice(prefix.length), "hex")
const idOf = (bytes: Buffer) => prefix + bytes.toString("hex")

const formatOf = (text: string): ImageFormat => {
  const format = ImageFormat.literals.find((format) => format === text)
  if (format === undefined) throw new Error(`not a format of images: ${text}`)
  return format
}

interface Row {
  readonly id: Buffer
  readonly format: string
  readonly width: number
  readonly height: number
  readonly size: number
  readonly created_at: Date
  readonly place: string
}

const imageOf = ({ created_at, format, height, id, size, width }: Row): Image => ({
  id: idOf(id),
  format: formatOf(format),
  bytes: size,
  width,
  height,
  createdAt: toTimestamp(created_at.getTime())
})

/** Keeps the bytes, unless they are kept already; and whether they are new to the agent. */
export const keepImage = async (
  tx: Tx,
  workspace: string,
  agentId: string,
  { bytes, format, height, id, width }: Picture & { readonly id: string; readonly bytes: Buffer }
): Promise<{ readonly image: Image; readonly fresh: boolean }> => {
  const [space, agent, key] = [toUuid(workspace), toUuid(agentId), bytesOf(id)]
  await stay(tx, space, agent, [key])
  // Held until the agent has it: a removal may have come between (leaving.ts, V3).
  for (let isHeld = false; !isHeld; ) {
    await sql`insert into images (workspace, id, format, width, height, size, bytes)
      values (${space}, ${key}, ${format}, ${width}, ${height}, ${bytes.length}, ${bytes})
      on conflict do nothing`.execute(tx)
    const held = await sql`select from images where workspace = ${space} and id = ${key} for key share`.execute(tx)
    isHeld = held.rows.length > 0
  }
  const { rows: made } = await sql<{ readonly created_at: Date }>`insert into image_agents (workspace, agent, image)
    values (${space}, ${agent}, ${key}) on conflict do nothing returning created_at`.execute(tx)
  const { rows } = await sql<Row>`select i.id, i.format, i.width, i.height, i.size, a.created_at, a.place
    from image_agents a join images i on i.workspace = a.workspace and i.id = a.image
    where a.workspace = ${space} and a.agent = ${agent} and a.image = ${key}`.execute(tx)
  const [row] = rows
  if (row === undefined) throw new Error(`an image that was kept is not there: ${id}`)
  return { image: imageOf(row), fresh: made.length > 0 }
}

export interface ListedImage {
  readonly image: Image
  readonly position: Position
}

/** Newest first. */
export const listImages = async (
  db: Db,
  workspace: string,
  agentId: string,
  { after, limit }: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<ListedImage>> => {
  const { rows } = await sql<Row>`select i.id, i.format, i.width, i.height, i.size, a.created_at, a.place
    from image_agents a join images i on i.workspace = a.workspace and i.id = a.image
    where a.workspace = ${toUuid(workspace)} and a.agent = ${toUuid(agentId)}
      and ${behind("a.created_at", "a.place", after)}
    order by a.created_at desc, a.place desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ image: imageOf(row), position: { at: row.created_at.getTime(), id: row.place } }))
}

/** Those of the ids that are the agent's, and whether they are about to go (leaving.ts). */
const ownImages = async (db: Db, space: string, agent: string, ids: ReadonlyArray<string>) => {
  const { rows } = await sql<{ readonly image: Buffer; readonly leaving: boolean }>`
    select a.image, l.image is not null as leaving from image_agents a
      left join leaving_images l on l.workspace = a.workspace and l.agent = a.agent and l.image = a.image
    where a.workspace = ${space} and a.agent = ${agent} and a.image = any(${ids.map(bytesOf)}::bytea[])`.execute(db)
  return rows
}

/** Those of the ids that are not the agent's. The others are named now, and stay. */
export const missingImages = async (
  db: Db,
  workspace: string,
  agentId: string,
  ids: ReadonlyArray<string>
): Promise<ReadonlySet<string>> => {
  const [space, agent] = [toUuid(workspace), toUuid(agentId)]
  let own = await ownImages(db, space, agent, ids)
  const leaving = own.flatMap(({ image, leaving }) => (leaving ? [image] : []))
  if (leaving.length > 0) {
    await stay(db, space, agent, leaving)
    own = await ownImages(db, space, agent, ids)
  }
  const found = new Set(own.map(({ image }) => idOf(image)))
  return new Set(ids.filter((id) => !found.has(id)))
}

export interface StoredImage {
  readonly format: ImageFormat
  readonly bytes: Buffer
}

/** As they were uploaded, by id. */
export const readImages = async (
  db: Db,
  workspace: string,
  ids: ReadonlyArray<string>
): Promise<ReadonlyMap<string, StoredImage>> => {
  const { rows } = await sql<{ readonly id: Buffer; readonly format: string; readonly bytes: Buffer }>`
    select id, format, bytes from images
    where workspace = ${toUuid(workspace)} and id = any(${ids.map(bytesOf)}::bytea[])`.execute(db)
  return new Map(rows.map(({ bytes, format, id }) => [idOf(id), { format: formatOf(format), bytes }]))
}

/** Of images by id: how many bytes each has. */
export const readSizes = async (
  db: Db,
  workspace: string,
  ids: ReadonlyArray<string>
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await sql<{ readonly id: Buffer; readonly size: number }>`select id, size from images
    where workspace = ${toUuid(workspace)} and id = any(${ids.map(bytesOf)}::bytea[])`.execute(db)
  return new Map(rows.map(({ id, size }) => [idOf(id), size]))
}

/** The same key, sealed otherwise, unless somebody has done so meanwhile. */
export const renewImageKey = async (db: Db, workspace: string, sealed: string, renewed: string) => {
  await sql`update image_keys set sealed = ${renewed} where workspace = ${toUuid(workspace)}
    and sealed = ${sealed}`.execute(db)
}

/** The workspace's sealed key; `made` is kept where it has none yet. */
export const imageKey = async (db: Db, workspace: string, made?: string): Promise<string | undefined> => {
  const space = toUuid(workspace)
  if (made !== undefined)
    await sql`insert into image_keys (workspace, sealed) values (${space}, ${made}) on conflict do nothing`.execute(db)
  const { rows } = await sql<{ readonly sealed: string }>`select sealed from image_keys
    where workspace = ${space}`.execute(db)
  return rows[0]?.sealed
}
