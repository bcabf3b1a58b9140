/** Telling webhooks as a part of whatever statement has something to tell: the journal's, and those of rows. */

/** For a `where`: the endpoint `k` wants the event of that row. */
const wants = (row: string) =>
  `k.workspace = ${row}.workspace and k.enabled and ${row}.type = any (k.events) and
    (k.agent is null or k.agent = ${row}.agent)`

/**
 * Parts of a `with`: `source` is the name of one before them that has workspace, id, type, agent, body and at. An event
 * that has been told of before is not told of again.
 */
export const telling = (source: string) => `announced as (insert into webhook_events
    (workspace, id, type, agent, body, created_at)
  select e.workspace, e.id, e.type, e.agent, e.body, e.at from ${source} e
  where exists (select from webhooks k where ${wants("e")})
  on conflict (workspace, id) do nothing
  returning workspace, id, type, agent, created_at),
delivering as (insert into webhook_deliveries (workspace, id, webhook, event, state, next_at, created_at)
  select e.workspace, md5(k.id::text || e.id::text)::uuid, k.id, e.id, 'pending', e.created_at, e.created_at
  from announced e join webhooks k on ${wants("e")})`
