/**
 * What PostgreSQL itself saw of who owns what: triggers that note every change of a head and of a lease, by
 * the role that made it. Every node has a role of its own here, so that a write is known by its writer.
 *
 * A1. An actor changes hands only when nobody alive owns it; it is given back only by its owner.
 * A2. An append is its owner's, moves `rev` by one, and leaves owner and epoch as they are.
 * A3. Epochs never fall; a new owner raises the epoch.
 * A4. A lapsed lease is never renewed.
 */
import type pg from "pg"

const statements = `
create schema audit;
create table audit.heads (n bigserial primary key, at timestamptz not null default clock_timestamp(), writer text not null, actor uuid not null,
  owner_before uuid, owner_after uuid, epoch_before int, epoch_after int, rev_before int, rev_after int, pos_after int, since_before int, lapsed boolean, still boolean);
create index on audit.heads (actor, n);
create table audit.nodes (n bigserial primary key, at timestamptz not null default clock_timestamp(), writer text not null, what text not null,
  incarnation uuid not null, late boolean);
create function audit.head() returns trigger language plpgsql as $$
begin
  insert into audit.heads (writer, actor, owner_before, owner_after, epoch_before, epoch_after, rev_before, rev_after, pos_after, since_before, lapsed, still)
  values (session_user, new.id, old.owner, new.owner, old.epoch, new.epoch, old.rev, new.rev, new.pos, old.since,
    case when old.owner is not null and new.owner is not null and old.owner <> new.owner
      then not exists (select from public.nodes n where n.incarnation = old.owner and n.deadline > clock_timestamp()) end,
    (old.pos, old.seq, old.since, old.runnable_at, old.status, old.carry) is not distinct from (new.pos, new.seq, new.since, new.runnable_at, new.status, new.carry));
  return null;
end $$;
create trigger audited after update on public.heads for each row execute function audit.head();
create function audit.node() returns trigger language plpgsql as $$
begin
  -- Leases live on while commits wait for a standby (faults/postgres.ts).
  perform set_config('synchronous_commit', 'local', true);
  if tg_op = 'INSERT' then insert into audit.nodes (writer, what, incarnation) values (session_user, 'join', new.incarnation);
  elsif tg_op = 'DELETE' then insert into audit.nodes (writer, what, incarnation) values (session_user, 'leave', old.incarnation);
  elsif old.deadline < clock_timestamp() and new.deadline > old.deadline then
    insert into audit.nodes (writer, what, incarnation, late) values (session_user, 'renew', new.incarnation, true);
  end if;
  return null;
end $$;
create trigger audited after insert or update or delete on public.nodes for each row execute function audit.node();`

export const installAudit = (pool: pg.Pool) => pool.query(statements)

export interface HeadChange {
  readonly n: string
  readonly at: number
  readonly writer: string
  readonly actor: string
  readonly owner_before: string | null
  readonly owner_after: string | null
  readonly epoch_before: number
  readonly epoch_after: number
  readonly rev_before: number
  readonly rev_after: number
  readonly pos_after: number
  readonly since_before: number | null
  readonly lapsed: boolean | null
  /** Nothing that an append changes is changed. */
  readonly still: boolean
}

export interface Audit {
  readonly heads: ReadonlyArray<HeadChange>
  /** The node that each incarnation belonged to. */
  readonly nameOf: ReadonlyMap<string, string>
  readonly lateRenewals: ReadonlyArray<string>
}

export const mark = async (pool: pg.Pool): Promise<{ readonly heads: string; readonly nodes: string }> => {
  const {
    rows: [row]
  } = await pool.query<{ heads: string; nodes: string }>(
    "select coalesce((select max(n) from audit.heads), 0) as heads, coalesce((select max(n) from audit.nodes), 0) as nodes"
  )
  if (row === undefined) throw new Error("no row")
  return row
}

/** All since the mark. */
export const readAudit = async (
  pool: pg.Pool,
  since: { readonly heads: string; readonly nodes: string }
): Promise<Audit> => {
  const heads = await pool.query<HeadChange>(
    `select *, (extract(epoch from at) * 1000)::float8 as at from audit.heads where n > $1 order by n`,
    [since.heads]
  )
  const nodes = await pool.query<{ incarnation: string; writer: string }>(
    "select incarnation, writer from audit.nodes where what = 'join'"
  )
  const late = await pool.query<{ writer: string }>("select writer from audit.nodes where late and n > $1", [
    since.nodes
  ])
  return {
    heads: heads.rows,
    nameOf: new Map(nodes.rows.map(({ incarnation, writer }) => [incarnation, writer])),
    lateRenewals: late.rows.map(({ writer }) => writer)
  }
}

/** A takeover from an owner whose lease was over. */
export const isTakeover = ({ lapsed }: HeadChange) => lapsed !== null

export const auditViolations = ({ heads, lateRenewals, nameOf }: Audit): ReadonlyArray<string> => {
  const broken = lateRenewals.map((writer) => `A4: ${writer} renewed a lapsed lease`)
  for (const h of heads) {
    const say = (text: string) =>
      broken.push(
        `${text} (${h.actor}, rev ${h.rev_after}, epoch ${h.epoch_before} to ${h.epoch_after}, by ${h.writer})`
      )
    const changed = h.owner_before !== h.owner_after
    if (h.epoch_after < h.epoch_before) say("A3: an epoch falls")
    if (changed && h.owner_after !== null && h.epoch_after !== h.epoch_before + 1)
      say("A3: a new owner under an epoch that is not the next")
    if (h.lapsed === false) say("A1: taken from a live owner")
    if (changed && h.owner_after === null && h.owner_before !== null && nameOf.get(h.owner_before) !== h.writer)
      say("A1: given back by somebody else")
    if (changed && h.owner_after !== null && nameOf.get(h.owner_after) !== h.writer)
      say("A1: claimed for somebody else")
    if (h.rev_after === h.rev_before) {
      if (!h.still) say("A2: a change that does not move rev")
      continue
    }
    if (h.rev_after !== h.rev_before + 1) say(`A2: rev ${h.rev_before} is followed by ${h.rev_after}`)
    if (changed || h.epoch_after !== h.epoch_before) say("A2: an append changes owner or epoch")
    if (h.owner_before === null || nameOf.get(h.owner_before) !== h.writer)
      say(`A2: an append that is not its owner's (${h.owner_before})`)
  }
  return broken
}
