/**
 * What agents whose budget is for all time have spent up to an hour ago, in one row: what is set aside for a call costs
 * as little after a year as on the first day.
 *
 * A row counts while it is less than a day old: what was spent since is there minute by minute then, whatever a chore
 * of this version or of the one before has rolled up. The version before writes no such row, and sets aside by the same
 * function; so it does after a rollback, which removes this migration's name and leaves what it made. Each statement
 * may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`create table if not exists spend_totals (
    workspace uuid not null,
    subject   uuid not null,
    -- The first minute that is not in it.
    until     integer not null,
    amount    double precision not null,
    primary key (workspace, subject)
  ) with (fillfactor = 70)`,
  // As migration 12 has it, but for `spend_totals`. Sets aside what calls may cost, of many at once: each on its own, in
  // order. Whoever spends for an agent or a thread
  // holds its lock until the end of the transaction, and each query below sees what was written before it was given. A
  // plain statement would not: after waiting for a lock its sub-queries still read from before. Limits are read here,
  // so that a changed one holds for the next call.
  sql`create or replace function reserve_costs(workspaces uuid[], ids uuid[], subjects uuid[], chains text[],
      amounts float8[], prompts float8[], known float8[])
    returns table (place int, verdict text) language plpgsql as $$
  declare
    held_lock bigint;
    chain uuid[];
    capped uuid[];
    member record;
    budget record;
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
        select (a.body #>> '{budget,limit}')::float8 as cap,
            coalesce(t.amount, 0) + (select coalesce(sum(s.amount), 0) from spent s
              where s.workspace = a.workspace and s.subject = a.id and s.minute > case a.body #>> '{budget,window}'
                when '24h' then this_minute - 1440
                when '7d' then this_minute - 10080
                else coalesce(t.until, 0) - 1 end) as spent,
            (select coalesce(sum(r.amount), 0) from reservations r
              where r.workspace = a.workspace and r.subject = a.id) as held
          into budget from agents a left join spend_totals t on t.workspace = a.workspace and t.subject = a.id
            and t.until > this_minute - 1440 and a.body #>> '{budget,window}' = 'total'
          where a.workspace = workspaces[i] and a.id = subjects[i] and a.body #>> '{budget,limit}' is not null;
        if found and not (budget.spent + budget.held + amounts[i] <= budget.cap
            or (budget.held = 0 and budget.spent < budget.cap)) then
          verdict := 'budget_exceeded';
        end if;
        -- Of a thread that asked, what it had cost before it had a cap is in its head: of the first it was brought along.
        for member in
          select h.id, (readable(h.attributes) ->> 'maxCost')::float8 as cap,
              greatest((select coalesce(sum(s.amount), 0) from thread_spend s
                where s.workspace = h.workspace and s.thread = h.id),
                case when h.id = chain[1] then known[i] else
                  coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
                  + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0) end) as spent,
              (select coalesce(sum(r.amount), 0) from reservations r
                where r.workspace = h.workspace and h.id = any (r.threads)) as held
            from heads h
            where h.workspace = workspaces[i] and h.id = any (chain) and readable(h.attributes) ->> 'maxCost' is not null
        loop
          capped := capped || member.id;
          if verdict = 'reserved' and not (member.spent + member.held + amounts[i] <= member.cap
              or (member.held = 0 and member.spent < member.cap)) then
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
