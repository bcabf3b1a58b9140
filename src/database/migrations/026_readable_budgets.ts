/**
 * What is set aside for a call is also set aside for an agent whose texts hold what PostgreSQL stores and refuses to
 * read: \u0000, or half of a pair. Such an agent's calls failed, and with them all that shared their statement. And it
 * takes half the time: what is asked of many calls is asked in one statement, and the one that makes a thread's head
 * readable is left out for threads without a cap, which are most.
 *
 * Nodes of the version before set aside by the same function. A rollback removes this migration's name and leaves what
 * it made; the statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

// Sets aside what calls may cost, of many at once: each on its own, those of an agent in order. Whoever spends for an
// agent or a thread holds its lock until the end of the transaction, and each statement below sees what was written
// before it was given. A plain statement would not: after waiting for a lock its sub-queries still read from before.
// The first sees none of the rows that follow from it, so what it finds set aside for an agent is carried on by hand.
// Limits are read here, so that a changed one holds for the next call. What cannot be read is spelled out, as `readable`
// does: it takes its time, and most have none.
const reserveCosts = sql`create or replace function reserve_costs(workspaces uuid[], ids uuid[], subjects uuid[],
    chains text[], amounts float8[], prompts float8[], known float8[])
  returns table (place int, verdict text) language plpgsql as $$
declare
  held_lock bigint;
  call record;
  member record;
  asker uuid;
  capped uuid[];
  -- Of the agent whose calls come one behind the other. Its id alone may be another workspace's too.
  space uuid;
  agent uuid;
  held_now float8;
  thread_cost float8;
  this_minute int := floor(extract(epoch from now()) / 60);
begin
  for held_lock in
    select distinct hashtextextended(name, 0) from (
      select 'spends ' || s from unnest(subjects) s
      union all select 'spends ' || t from unnest(chains) c, unnest(c::uuid[]) t) names (name) order by 1
  loop
    perform pg_advisory_xact_lock(held_lock);
  end loop;
  for call in
    select i, chains[i]::uuid[] as chain, (b.told ->> 'limit')::float8 as cap,
        exists (select from reservations r where r.workspace = workspaces[i] and r.id = ids[i]) as was_set_aside,
        exists (select from heads h where h.workspace = workspaces[i] and h.id = any (chains[i]::uuid[])
          and strpos(h.attributes, 'maxCost') > 0) as has_capped_threads,
        case when b.told ->> 'limit' is not null then
          coalesce(t.amount, 0) + (select coalesce(sum(s.amount), 0) from spent s
            where s.workspace = workspaces[i] and s.subject = subjects[i] and s.minute > case b.told ->> 'window'
              when '24h' then this_minute - 1440
              when '7d' then this_minute - 10080
              else coalesce(t.until, 0) - 1 end) end as spent,
        case when b.told ->> 'limit' is not null then
          (select coalesce(sum(r.amount), 0) from reservations r
            where r.workspace = workspaces[i] and r.subject = subjects[i]) end as held
      from generate_subscripts(ids, 1) i
        left join lateral (select case when strpos(a.body::text, '\\u') = 0 then a.body
            else regexp_replace(a.body::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json
            end -> 'budget' as told from agents a
          where a.workspace = workspaces[i] and a.id = subjects[i] offset 0) b on true
        left join lateral (select t.amount, t.until from spend_totals t
          where b.told ->> 'window' = 'total' and t.workspace = workspaces[i] and t.subject = subjects[i]
            and t.until > this_minute - 1440 offset 0) t on true
      order by subjects[i], workspaces[i], i
  loop
    place := call.i;
    verdict := 'reserved';
    capped := '{}';
    if agent is distinct from subjects[call.i] or space is distinct from workspaces[call.i] then
      agent := subjects[call.i];
      space := workspaces[call.i];
      held_now := call.held;
    end if;
    -- A job that is repeated finds its own.
    if not call.was_set_aside then
      if not (call.spent + held_now + amounts[call.i] <= call.cap or (held_now = 0 and call.spent < call.cap)) then
        verdict := 'budget_exceeded';
      end if;
      -- What a thread had cost before it had a cap is in its head, of the first it was brought along; what its
      -- questions cost before their results are in is in thread_spend only. From the first call under the cap on
      -- both are counted there.
      if call.has_capped_threads then
        foreach asker in array call.chain loop
          select h.id, (readable(h.attributes) ->> 'maxCost')::float8 as cap,
              (select s.amount from thread_spend s where s.workspace = h.workspace and s.thread = h.id) as booked,
              case when h.id = call.chain[1] then known[call.i] else
                coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
                + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0) end as told,
              (select coalesce(sum(r.amount), 0) from reservations r
                where r.workspace = h.workspace and h.id = any (r.threads)) as held
            into member from heads h
            where h.workspace = workspaces[call.i] and h.id = asker
              and readable(h.attributes) ->> 'maxCost' is not null;
          continue when not found;
          capped := capped || member.id;
          if member.booked is null then
            insert into thread_spend (workspace, thread, amount) values (workspaces[call.i], member.id, member.told)
              on conflict do nothing;
          end if;
          thread_cost := greatest(member.booked, member.told);
          if verdict = 'reserved' and not (thread_cost + member.held + amounts[call.i] <= member.cap
              or (member.held = 0 and thread_cost < member.cap)) then
            verdict := 'thread_cost_exceeded';
          end if;
        end loop;
      end if;
      -- Of a job that is repeated while its first call still waits both are here.
      if verdict <> 'reserved'
          and exists (select from reservations r where r.workspace = space and r.id = ids[call.i]) then
        verdict := 'reserved';
      elsif verdict = 'reserved' then
        insert into reservations (workspace, id, subject, threads, amount, prompt, created_at)
          values (workspaces[call.i], ids[call.i], agent, capped, amounts[call.i], prompts[call.i], now())
          on conflict do nothing;
        if found then
          held_now := held_now + amounts[call.i];
        end if;
      end if;
    end if;
    return next;
  end loop;
end $$`

export const up = async (db: Kysely<unknown>) => {
  await reserveCosts.execute(db)
}
