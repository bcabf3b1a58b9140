/**
 * Setting money aside takes less: an agent's body is read once, and whether a thread has a cap is asked first, by its key.
 * The statement that makes a head readable was planned anew for each call, and took longer than all else.
 *
 * The version before sets aside by the same function; so it does after a rollback, which removes this migration's name
 * and leaves what it made. The statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

// Sets aside what calls may cost, of many at once: each on its own, in order. Whoever spends for an agent or a thread
// holds its lock until the end of the transaction, and each query below sees what was written before it was given. A
// plain statement would not: after waiting for a lock its sub-queries still read from before. Limits are read here,
// so that a changed one holds for the next call.
const reserveCosts = sql`create or replace function reserve_costs(workspaces uuid[], ids uuid[], subjects uuid[],
    chains text[], amounts float8[], prompts float8[], known float8[])
  returns table (place int, verdict text) language plpgsql as $$
declare
  held_lock bigint;
  capped uuid[];
  asker uuid;
  chain uuid[];
  member record;
  budget record;
  rolled record;
  spent_now float8;
  held_now float8;
  after_minute int;
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
  for i in 1 .. cardinality(ids) loop
    place := i;
    verdict := 'reserved';
    chain := chains[i]::uuid[];
    capped := '{}';
    -- A job that is repeated finds its own.
    if not exists (select from reservations r where r.workspace = workspaces[i] and r.id = ids[i]) then
      select (b.told ->> 'limit')::float8 as cap, b.told ->> 'window' as over into budget
        from (select a.body -> 'budget' as told from agents a
          where a.workspace = workspaces[i] and a.id = subjects[i] offset 0) b
        where b.told ->> 'limit' is not null;
      if found then
        spent_now := 0;
        after_minute := case budget.over when '24h' then this_minute - 1440 when '7d' then this_minute - 10080 else -1 end;
        if budget.over = 'total' then
          select t.amount, t.until into rolled from spend_totals t
            where t.workspace = workspaces[i] and t.subject = subjects[i] and t.until > this_minute - 1440;
          if found then
            spent_now := rolled.amount;
            after_minute := rolled.until - 1;
          end if;
        end if;
        spent_now := spent_now + (select coalesce(sum(s.amount), 0) from spent s
          where s.workspace = workspaces[i] and s.subject = subjects[i] and s.minute > after_minute);
        held_now := (select coalesce(sum(r.amount), 0) from reservations r
          where r.workspace = workspaces[i] and r.subject = subjects[i]);
        if not (spent_now + held_now + amounts[i] <= budget.cap or (held_now = 0 and spent_now < budget.cap)) then
          verdict := 'budget_exceeded';
        end if;
      end if;
      -- What a thread had cost before it had a cap is in its head, of the first it was brought along; what its
      -- questions cost before their results are in is in thread_spend only. From the first call under the cap on
      -- both are counted there.
      foreach asker in array chain loop
        -- Most heads say nothing of a cap, and to begin the statement that makes one readable takes long.
        continue when not exists (select from heads h
          where h.workspace = workspaces[i] and h.id = asker and strpos(h.attributes, 'maxCost') > 0);
        select h.id, (readable(h.attributes) ->> 'maxCost')::float8 as cap,
            (select s.amount from thread_spend s where s.workspace = h.workspace and s.thread = h.id) as booked,
            case when h.id = chain[1] then known[i] else
              coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
              + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0) end as told,
            (select coalesce(sum(r.amount), 0) from reservations r
              where r.workspace = h.workspace and h.id = any (r.threads)) as held
          into member from heads h
          where h.workspace = workspaces[i] and h.id = asker and readable(h.attributes) ->> 'maxCost' is not null;
        continue when not found;
        capped := capped || member.id;
        if member.booked is null then
          insert into thread_spend (workspace, thread, amount) values (workspaces[i], member.id, member.told)
            on conflict do nothing;
        end if;
        thread_cost := greatest(member.booked, member.told);
        if verdict = 'reserved' and not (thread_cost + member.held + amounts[i] <= member.cap
            or (member.held = 0 and thread_cost < member.cap)) then
          verdict := 'thread_cost_exceeded';
        end if;
      end loop;
      if verdict = 'reserved' then
        insert into reservations (workspace, id, subject, threads, amount, prompt, created_at)
          values (workspaces[i], ids[i], subjects[i], capped, amounts[i], prompts[i], now());
      end if;
    end if;
    return next;
  end loop;
end $$`

export const up = async (db: Kysely<unknown>) => {
  await reserveCosts.execute(db)
}
