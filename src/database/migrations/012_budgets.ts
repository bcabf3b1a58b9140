/**
 * Budgets that hold: what is set aside for a model call while it runs, and what threads have spent.
 *
 * The version before knows neither and books the cost of a turn at its end. Of a turn that it takes over from this one,
 * what was booked response by response is booked again. A rollback to it removes this migration's name and leaves what
 * it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // One row is a model call with a price that runs now: gone with the fact that tells what became of it.
  sql`create table if not exists reservations (
    workspace  uuid not null,
    id         uuid not null,
    subject    uuid not null,
    threads    uuid[] not null,
    amount     double precision not null,
    prompt     double precision not null,
    created_at timestamptz not null,
    primary key (workspace, id)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index if not exists reservations_by_subject on reservations (workspace, subject)`,
  // What a thread with a maxCost has cost since it has one, with the threads that it has asked for.
  sql`create table if not exists thread_spend (
    workspace uuid not null,
    thread    uuid not null,
    amount    double precision not null,
    primary key (workspace, thread)
  ) with (fillfactor = 70)`,
  // Sets aside what calls may cost, of many at once: each on its own, in order. Whoever spends for an agent or a thread
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
            (select coalesce(sum(s.amount), 0) from spent s
              where s.workspace = a.workspace and s.subject = a.id and s.minute > case a.body #>> '{budget,window}'
                when '24h' then floor(extract(epoch from now()) / 60) - 1440
                when '7d' then floor(extract(epoch from now()) / 60) - 10080
                else -1 end) as spent,
            (select coalesce(sum(r.amount), 0) from reservations r
              where r.workspace = a.workspace and r.subject = a.id) as held
          into budget from agents a
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
