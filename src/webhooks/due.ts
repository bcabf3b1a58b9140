/**
 * Deliveries that are due: taken by one node at a time, and what came of them.
 *
 * U1. A delivery is taken by putting its next attempt off: where whoever took it dies, another sends it after that.
 * U2. Endpoints are looked at one by one, whatever waits for each: an endpoint that hangs fills nobody's portion; nor
 *     do all those of a workspace together.
 * U3. An attempt whose answer disables its webhook is told of together with that: no later attempt would.
 * U4. The moment that a delivery is put off to names the attempt. A delivery that was made due again by hand, or that
 *     another node has taken, has another moment: a late failure changes nothing of it. A late success ends it.
 * U5. Failures count for the url that was asked: where the webhook has another one by then, they do not count.
 */
import { CompiledQuery, sql } from "kysely"
import { batched } from "../database/batches.ts"
import type { Database } from "../database/Database.ts"
import type { Tx } from "../database/handle.ts"
import { floats, ints, moments, texts, uuids } from "../database/parameters.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { raiseAuthRevision } from "../keys/rows.ts"
import { Effect } from "effect"
import { DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import type { AttemptOutcome, DueDelivery } from "./attempt.ts"
import type { WebhookDisabledReason } from "./webhook.ts"

/** U1. Longer than an attempt may take. */
const takenSeconds = 60

// Nobody waits for the disk here, nor below: what a crash of the database takes back is sent again.
const waitsForNothing = "waits as (select set_config('synchronous_commit', 'off', true) as off)"

// From endpoint to endpoint by the index, then the first that are due of each (U2).
const text = `with recursive ${waitsForNothing}, waiting (webhook) as (
    (select webhook from webhook_deliveries where state = 'pending' order by webhook limit 1)
    union all
    select (select d.webhook from webhook_deliveries d where d.state = 'pending' and d.webhook > waiting.webhook
      order by d.webhook limit 1) from waiting where waiting.webhook is not null
  ),
  busy (webhook, under) as (select * from unnest($1::uuid[], $2::int[])),
  room as (select waiting.webhook, $3::int - coalesce(busy.under, 0) as places from waiting
    left join busy using (webhook) where waiting.webhook is not null and coalesce(busy.under, 0) < $3::int),
  spaces (workspace, under) as (select * from unnest($5::uuid[], $6::int[])),
  due as (select d.workspace, d.id, d.next_at,
      row_number() over (partition by d.workspace order by d.next_at, d.id) + coalesce(spaces.under, 0) as place
    from room cross join lateral (
      select d.workspace, d.id, d.next_at from webhook_deliveries d
      where d.webhook = room.webhook and d.state = 'pending' and d.next_at <= now()
      order by d.next_at limit room.places for update skip locked) d
    left join spaces on spaces.workspace = d.workspace),
  taken as (select workspace, id from due where place <= $7::int order by next_at limit $4::int)
  update webhook_deliveries d set next_at = now() + interval '${takenSeconds} seconds'
  from waits, taken, webhooks k, webhook_events e
  where waits.off = 'off' and d.workspace = taken.workspace and d.id = taken.id and k.workspace = d.workspace
    and k.id = d.webhook
    and k.enabled and e.workspace = d.workspace and e.id = d.event
  returning d.workspace, d.id, d.webhook, d.event, d.attempts, d.next_at, k.url, k.sealed, e.body,
    case when k.previous_until > now() then k.previous end as previous`

interface Row {
  readonly workspace: string
  readonly id: string
  readonly webhook: string
  readonly event: string
  readonly attempts: number
  readonly next_at: Date
  readonly url: string
  readonly sealed: string
  readonly previous: string | null
  readonly body: string
}

type Counted = ReadonlyMap<string, { readonly taken: number }>

/** So many deliveries, counted with those that this node has already of the same endpoint, or workspace. */
export interface DueShares {
  readonly ofEndpoint: number
  readonly ofWorkspace: number
  /** Of all, beside those that it has. */
  readonly more: number
}

export const takeDue = (
  database: Database["Service"],
  has: { readonly endpoints: Counted; readonly workspaces: Counted },
  shares: DueShares
) => {
  const busy = [...has.endpoints]
  const spaces = [...has.workspaces]
  return database
    .read<Row>({
      name: "webhooks_due",
      text,
      values: [
        uuids(busy, ([webhookId]) => webhookId),
        ints(busy, ([, { taken }]) => taken),
        shares.ofEndpoint,
        shares.more,
        uuids(spaces, ([workspace]) => workspace),
        ints(spaces, ([, { taken }]) => taken),
        shares.ofWorkspace
      ]
    })
    .pipe(
      Effect.map((rows) =>
        rows.map(
          (row): DueDelivery => ({
            workspace: fromUuid("workspace", row.workspace),
            webhookId: fromUuid("webhook", row.webhook),
            deliveryId: fromUuid("webhookDelivery", row.id),
            eventId: fromUuid("webhookEvent", row.event),
            url: row.url,
            body: row.body,
            attempts: row.attempts,
            takenUntil: row.next_at.getTime(),
            secrets: row.previous === null ? [row.sealed] : [row.sealed, row.previous]
          })
        )
      )
    )
}

// What was ended meanwhile, with its webhook, stays so; what was made due again, or taken by another node, is not put
// off or ended by the failure of the attempt before (U4). Of several outcomes of one endpoint any success counts as the
// last: they are all of this moment.
const toldText = `with ${waitsForNothing}, told as (select * from unnest($1::uuid[], $2::uuid[], $3::uuid[],
    $4::text[], $5::float8[], $6::int[], $7::text[], $8::timestamptz[], $9::text[])
    as t(workspace, id, webhook, state, pause, status, error, taken_until, url)),
  deliveries as (update webhook_deliveries d set attempts = d.attempts + 1,
      state = case when d.state = 'pending' or told.state = 'delivered' then told.state else d.state end,
      next_at = now() + told.pause * interval '1 millisecond', last_status = told.status, last_error = told.error
    from told where d.workspace = told.workspace and d.id = told.id
      and (told.state = 'delivered' or d.next_at = told.taken_until)),
  sums as (select workspace, webhook, url, bool_or(state = 'delivered') as any, count(*) filter (where
    state <> 'delivered')::int
    as failed from told group by 1, 2, 3)
  update webhooks k set
    failures = case when sums.any then 0 else k.failures + sums.failed end,
    failing_since = case when sums.any then null else coalesce(k.failing_since, now()) end,
    last_success_at = case when sums.any then now() else k.last_success_at end,
    last_failure_at = case when sums.failed > 0 then now() else k.last_failure_at end
  from sums, waits
  where waits.off = 'off' and k.workspace = sums.workspace and k.id = sums.webhook and k.url = sums.url
  returning k.id, k.enabled and k.failures >= ${limits.webhookFailures}
    and k.failing_since <= now() - interval '${limits.webhookFailingSeconds} seconds' as failing`

interface Attempted {
  readonly delivery: DueDelivery
  readonly outcome: AttemptOutcome
}

const outcomeValues = (attempted: ReadonlyArray<Attempted>) => [
  uuids(attempted, ({ delivery }) => delivery.workspace),
  uuids(attempted, ({ delivery }) => delivery.deliveryId),
  uuids(attempted, ({ delivery }) => delivery.webhookId),
  texts(attempted, ({ outcome }) => outcome.state),
  floats(attempted, ({ outcome }) => outcome.pauseMs),
  ints(attempted, ({ outcome }) => outcome.status ?? null),
  texts(attempted, ({ outcome }) => outcome.error ?? null),
  moments(attempted, ({ delivery }) => delivery.takenUntil),
  texts(attempted, ({ delivery }) => delivery.url)
]

/** Writes what came of attempts, those of a moment together; whether their endpoint has failed for too long. */
export const makeTell = (database: Database["Service"]) =>
  batched<Attempted, boolean, DatabaseUnavailable>({
    max: 200,
    lanes: 1,
    gatherMs: 20,
    // U4. One statement writes a row once: two attempts of a delivery that end together are told of one by one.
    key: ({ delivery }) => `${delivery.workspace} ${delivery.deliveryId}`,
    run: async (requests) => {
      const attempted = requests.map(({ item }) => item)
      try {
        const rows = await database.query<{ readonly id: string; readonly failing: boolean }>({
          name: "webhooks_told",
          text: toldText,
          values: outcomeValues(attempted)
        })
        const failing = new Set<string>(rows.filter((row) => row.failing).map(({ id }) => fromUuid("webhook", id)))
        for (const { answer, item } of requests) answer(Effect.succeed(failing.has(item.delivery.webhookId)))
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        for (const { answer } of requests)
          answer(Effect.fail(new DatabaseUnavailable({ operation: "webhooks.told", cause })))
      }
    }
  })

/**
 * The server's own decision: what is pending ends as failed, and its maker enables it again once it works. What a url
 * has answered says nothing of another one that the webhook was given meanwhile.
 */
const disabling = async (tx: Tx, { url, webhookId, workspace }: DueDelivery, reason: WebhookDisabledReason) => {
  const [space, id] = [toUuid(workspace), toUuid(webhookId)]
  const { numUpdatedRows } = await tx
    .updateTable("webhooks")
    .set({ enabled: false, disabled_reason: reason, rev: sql`rev + 1`, updated_at: sql`now()` })
    .where("workspace", "=", space)
    .where("id", "=", id)
    .where("enabled", "=", true)
    .where("url", "=", url)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await tx
    .updateTable("webhook_deliveries")
    .set({ state: "failed", last_error: "the webhook was disabled" })
    .where("workspace", "=", space)
    .where("webhook", "=", id)
    .where("state", "=", "pending")
    .execute()
  await raiseAuthRevision(tx)
}

/** One that goes on failing: where this is lost, the next attempt that fails comes upon it. */
export const disableFailing = (database: Database["Service"], delivery: DueDelivery) =>
  database.atomically("webhooks.disable", (tx) => disabling(tx, delivery, "failures"))

/** U3. */
export const disableGone = (database: Database["Service"], attempted: Attempted) =>
  database.atomically("webhooks.gone", async (tx) => {
    await tx.executeQuery(CompiledQuery.raw(toldText, outcomeValues([attempted])))
    await disabling(tx, attempted.delivery, "gone")
  })
