/** What planted bugs (plants.ts) need in the database: beside what the product has, and never used by it. */
import type pg from "pg"

const lock = "perform pg_advisory_xact_lock(held_lock);"

/** The function that sets money aside, without its lock; it takes its time, so that others come in between. */
export const installPlants = async (pool: pg.Pool) => {
  const { rows } = await pool.query<{ text: string }>("select pg_get_functiondef('reserve_costs'::regproc) as text")
  const text = rows[0]?.text ?? ""
  if (!text.includes(lock)) throw new Error("reserve_costs takes no lock any more: move what is planted with it")
  await pool.query(
    text
      .replace("reserve_costs", "reserve_costs_unlocked")
      .replace(lock, "null;")
      .replace("return next;", "return next;\n    perform pg_sleep(0.05);")
  )
}
