/** Connections to PostgreSQL. */
import pg from "pg"

/**
 * A pool whose connections may break at any moment. Idle or between two statements of a transaction, nobody listens for
 * that, and Node ends a process over an error event that nobody listens for. Whoever sends the next statement hears of
 * it.
 */
export const makePool = (config: pg.PoolConfig) => {
  const pool = new pg.Pool(config)
  pool.on("error", () => {})
  pool.on("connect", (client) => {
    client.on("error", () => {})
  })
  return pool
}
