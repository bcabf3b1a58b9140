/**
 * All that the database keeps sealed (src/crypto/envelope.ts), for an operator's check: a sample of each kind and
 * encryption key, and how many there are of it.
 */
import { sql } from "kysely"
import { sealedFor } from "../connections/Connections.ts"
import type { SecretPlace } from "../crypto/envelope.ts"
import type { Db } from "../database/handle.ts"
import { fromUuid } from "../domain/ids.ts"
import { sealedForImages } from "../images/Images.ts"
import { sealedForWebhook } from "../webhooks/attempt.ts"

export interface SealedSample {
  readonly kind: "connection" | "webhook" | "images"
  readonly place: SecretPlace
  readonly sealed: string
  /** The encryption key's id. */
  readonly key: string
  readonly count: number
}

interface Row {
  readonly kind: SealedSample["kind"]
  readonly workspace: string
  readonly id: string
  readonly sealed: string
  readonly key: string
  readonly count: number
}

const secretPlaceOf = ({ id, kind, workspace }: Row) => {
  const space = fromUuid("workspace", workspace)
  switch (kind) {
    case "connection":
      return sealedFor(space, fromUuid("connection", id))
    case "webhook":
      return sealedForWebhook(space, fromUuid("webhook", id))
    case "images":
      return sealedForImages(space)
  }
}

/** A webhook has two secrets while the one before still counts. */
export const sampleSealed = async (db: Db): Promise<ReadonlyArray<SealedSample>> => {
  const { rows } = await sql<Row>`select distinct on (kind, key) kind, workspace, id, sealed, key,
      (count(*) over (partition by kind, key))::int as count
    from (select *, split_part(sealed, '.', 2) as key from (
      select 'connection' as kind, workspace, id, sealed from connections
      union all select 'webhook', workspace, id, sealed from webhooks
      union all select 'webhook', workspace, id, previous from webhooks where previous_until > now()
      union all select 'images', workspace, workspace, sealed from image_keys) as kept) as sealed_texts
    order by kind, key`.execute(db)
  return rows.map((row) => ({
    kind: row.kind,
    place: secretPlaceOf(row),
    sealed: row.sealed,
    key: row.key,
    count: row.count
  }))
}
