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
  sql`create index if not exists reservations_overdue on reservations (created_at)`,
  // What a thread has cost, with the threads that it has asked for: the sum that its maxCost is held against.
  sql`create table if not exists thread_spend (
    workspace uuid not null,
    thread    uuid not null,
    amount    double precision not null,
    primary key (workspace, thread)
  ) with (fillfactor = 70)`,
  // Sets aside what calls may cost, of many at once: each on its own, in order. Whoever spends for an agent or a thread
  // holds its lock until the end of the transaction, and each query below sees what was written before it was given. A
  // plain statement would not: after waiting for a lock its sub-queries still read from before. Limits are read here, so
  // that a changed one holds for the next call.
  sql`create or replace function reserve_costs(workspaces uuid[], ids uuid[], subjects uuid[], chains text[],
      amounts float8[], prompts float8[], known float8[])
    returns table (place int, verdict text) language plpgsql as $$
  declare
    held_lock bigint;
    chain uuid[];
    member uuid;
    cap float8;
    unit text;
    spent_so_far float8;
    set_aside float8;
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
      -- A job that is repeated finds its own.
      if not exists (select from reservations r where r.workspace = workspaces[i] and r.id = ids[i]) then
        select (a.body #>> '{budget,limit}')::float8, a.body #>> '{budget,window}' into cap, unit
          from agents a where a.workspace = workspaces[i] and a.id = subjects[i];
        if cap is not null then
          select coalesce(sum(s.amount), 0) into spent_so_far from spent s
            where s.workspace = workspaces[i] and s.subject = subjects[i] and s.minute > case unit
              when '24h' then floor(extract(epoch from now()) / 60) - 1440
              when '7d' then floor(extract(epoch from now()) / 60) - 10080
              else -1 end;
          select coalesce(sum(r.amount), 0) into set_aside from reservations r
            where r.workspace = workspaces[i] and r.subject = subjects[i];
          if not (spent_so_far + set_aside + amounts[i] <= cap or (set_aside = 0 and spent_so_far < cap)) then
            verdict := 'budget_exceeded';
          end if;
        end if;
        foreach member in array chain loop
          exit when verdict <> 'reserved';
          select (readable(h.attributes) ->> 'maxCost')::float8 into cap from heads h
            where h.workspace = workspaces[i] and h.id = member;
          continue when cap is null;
          select coalesce(max(s.amount), 0) into spent_so_far from thread_spend s
            where s.workspace = workspaces[i] and s.thread = member;
          -- What it has cost before anybody kept its sum.
          if member = chain[1] then spent_so_far := greatest(spent_so_far, known[i]); end if;
          select coalesce(sum(r.amount), 0) into set_aside from reservations r
            where r.workspace = workspaces[i] and member = any (r.threads);
          if not (spent_so_far + set_aside + amounts[i] <= cap or (set_aside = 0 and spent_so_far < cap)) then
            verdict := 'thread_cost_exceeded';
          end if;
        end loop;
        if verdict = 'reserved' then
          insert into reservations (workspace, id, subject, threads, amount, prompt, created_at)
            values (workspaces[i], ids[i], subjects[i], chain, amounts[i], prompts[i], now());
        end if;
      end if;
      return next;
    end loop;
  end $$`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
