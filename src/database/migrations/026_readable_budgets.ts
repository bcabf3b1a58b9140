/**
 * What is set aside for a call is also set aside for an agent whose texts hold what PostgreSQL stores and refuses to
 * read: \u0000, or half of a pair. Such an agent's calls failed, and with them all that shared their statement.
 *
 * Nodes of the version before set aside by the same function. A rollback removes this migration's name and leaves what
 * it made; the statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // As migration 24 has it, but for the budget: where a text of the agent has an escape it is read as `readable` spells
  // it out. That takes its time, and most have none.
  sql`create or replace function reserve_costs(workspaces uuid[], ids uuid[], subjects uuid[], chains text[],
      amounts float8[], prompts float8[], known float8[])
    returns table (place int, verdict text) language plpgsql as $$
  declare
    held_lock bigint;
    chain uuid[];
    capped uuid[];
    member record;
    budget record;
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
        select (b.budget ->> 'limit')::float8 as cap,
            coalesce(t.amount, 0) + (select coalesce(sum(s.amount), 0) from spent s
              where s.workspace = a.workspace and s.subject = a.id and s.minute > case b.budget ->> 'window'
                when '24h' then this_minute - 1440
                when '7d' then this_minute - 10080
                else coalesce(t.until, 0) - 1 end) as spent,
            (select coalesce(sum(r.amount), 0) from reservations r
              where r.workspace = a.workspace and r.subject = a.id) as held
          into budget from agents a
            cross join lateral (select case when strpos(a.body::text, '\\u') > 0 then readable(a.body::text)
              else a.body end -> 'budget' as budget offset 0) b
            left join spend_totals t on t.workspace = a.workspace and t.subject = a.id
              and t.until > this_minute - 1440 and b.budget ->> 'window' = 'total'
          where a.workspace = workspaces[i] and a.id = subjects[i] and b.budget ->> 'limit' is not null;
        if found and not (budget.spent + budget.held + amounts[i] <= budget.cap
            or (budget.held = 0 and budget.spent < budget.cap)) then
          verdict := 'budget_exceeded';
        end if;
        -- What a thread had cost before it had a cap is in its head, of the first it was brought along; what its
        -- questions cost before their results are in is in thread_spend only. From the first call under the cap on
        -- both are counted there.
        for member in
          select h.id, (readable(h.attributes) ->> 'maxCost')::float8 as cap,
              (select s.amount from thread_spend s where s.workspace = h.workspace and s.thread = h.id) as booked,
              case when h.id = chain[1] then known[i] else
                coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
                + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0) end as told,
              (select coalesce(sum(r.amount), 0) from reservations r
                where r.workspace = h.workspace and h.id = any (r.threads)) as held
            from heads h
            where h.workspace = workspaces[i] and h.id = any (chain) and readable(h.attributes) ->> 'maxCost' is not null
        loop
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
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
