/**
 * Images that deleted threads have named: they go, unless something else names them.
 *
 * V1. What keeps an image for its agent: a message of another thread of the agent, sent, waiting or taken back; a
 *     schedule of the agent; an entry of the memory that the agent reads. The bytes go with the last agent that has
 *     them.
 * V2. It goes an hour after its thread at the earliest. Naming it meanwhile, or uploading it again, keeps it: the
 *     row in `leaving_images` is the lock that decides which came first. So a message that was taken is never left
 *     without its image.
 * V3. An upload and a removal of the same bytes meet at the row of `images`: locks are taken on `leaving_images` first.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Db, Tx } from "../database/handle.ts"

/** Longer than any request takes from its check of an image to the message that names it. */
const graceSeconds = 3_600

/** What a message says of an image, as it is stored. The indices of migration 23 know this very text. */
export const imageMark = sql.lit('"imageId":"img_')

/** The image is named or uploaded: it stays (V2). Waits for a removal that is under way. */
export const stay = (db: Db, workspace: string, agent: string, images: ReadonlyArray<Buffer>) =>
  sql`delete from leaving_images
    where workspace = ${workspace} and agent = ${agent} and image = any(${images}::bytea[])`.execute(db)

interface Leaving {
  readonly workspace: string
  readonly agent: string
  readonly image: Buffer
}

/** V1. */
const isNamed = async (tx: Tx, { agent, image, workspace }: Leaving) => {
  const name = `img_${image.toString("hex")}`
  const { rows } = await sql<{ readonly named: boolean }>`select
      exists (select from facts f join heads h on h.id = f.actor
        where strpos(f.event, ${imageMark}) > 0 and image_names(f.event) @> array[${name}]
          and h.workspace = ${workspace} and h.parent = ${agent})
      or exists (select from inputs i join heads h on h.id = i.actor
        where strpos(i.body, ${imageMark}) > 0 and image_names(i.body) @> array[${name}]
          and i.workspace = ${workspace} and h.parent = ${agent})
      or exists (select from inbox where workspace = ${workspace} and strpos(command, ${name}) > 0)
      or exists (select from schedules where workspace = ${workspace} and agent = ${agent} and deleted_at is null
        and strpos(body::text, ${name}) > 0)
      or exists (select from memory_entries where workspace = ${workspace} and store in (${agent}, ${workspace})
        and value is not null and strpos(value, ${name}) > 0) as named`.execute(tx)
  return rows[0]?.named === true
}

/** Looks at one that may go. False where there is none. */
const leaveOne = async (tx: Tx, seconds: number) => {
  const { rows } = await sql<Leaving>`select workspace, agent, image from leaving_images
    where at <= now() - make_interval(secs => ${seconds}) order by at limit 1 for update skip locked`.execute(tx)
  const [one] = rows
  if (one === undefined) return false
  const { agent, image, workspace } = one
  const named = await isNamed(tx, one)
  await stay(tx, workspace, agent, [image])
  if (named) return true
  await sql`delete from image_agents where workspace = ${workspace} and agent = ${agent} and image = ${image}`.execute(
    tx
  )
  // V3: whoever uploads it for another agent has locked it, or finds it gone.
  await sql`select from images where workspace = ${workspace} and id = ${image} for update`.execute(tx)
  await sql`delete from images where workspace = ${workspace} and id = ${image}
    and not exists (select from image_agents where workspace = ${workspace} and image = ${image})`.execute(tx)
  return true
}

/** One round; how many were looked at. `seconds` is the time that an image has at least (V2). */
export const forgetImages = Effect.fnUntraced(function* (seconds = graceSeconds) {
  const database = yield* Database
  for (let done = 0; ; done++)
    if (!(yield* database.atomically("forget images", (tx) => leaveOne(tx, seconds)))) return done
})
