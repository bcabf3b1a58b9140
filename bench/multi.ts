process.on("uncaughtException", () => {})
import { checkOut } from "./checkout.ts"
import { openMeter } from "./database.ts"
import { measure } from "./measure.ts"
import { median } from "./statistics.ts"
import { root, startPostgres, startTroupe } from "./systems.ts"
const commits = (process.argv[2] ?? "").split(",")
const rounds = Number(process.argv[3] ?? 4),
  clients = Number(process.argv[4] ?? 64),
  seconds = Number(process.argv[5] ?? 4)
const starts = Number(process.argv[6] ?? 2)
const outs = commits.map((c) => (c === "." ? { folder: root, remove: () => {} } : checkOut(c)))
const pg = await startPostgres()
const rows: Array<{ s: Array<number>; d: Array<number>; t: Array<number>; m: Array<number> }> = commits.map(() => ({
  s: [],
  d: [],
  t: [],
  m: []
}))
const report = () => {
  const base = rows[0]!
  for (const [i, c] of commits.entries()) {
    const r = rows[i]!
    const rel = (k: "s" | "d" | "t") => median(r[k].map((x, j) => x / base[k][j]!)).toFixed(3)
    console.log(
      c,
      "server",
      median(r.s).toFixed(3),
      rel("s"),
      "db",
      median(r.d).toFixed(3),
      rel("d"),
      "t/s",
      median(r.t).toFixed(0),
      rel("t"),
      "rss",
      median(r.m).toFixed(0)
    )
  }
}
try {
  for (let st = 0; st < starts; st++) {
    const meter = await openMeter(pg.url)
    const systems = []
    for (const [i, o] of outs.entries()) {
      const db = await meter.createDatabase(`m${st}_${i}`)
      systems.push(await startTroupe(`m${st}_${i}`, db, { agents: clients, checkout: o.folder }))
    }
    for (let r = 0; r <= rounds; r++) {
      const order = systems.map((_, i) => (i * (r % 2 ? 1 : commits.length - 1) + r) % commits.length)
      for (const i of new Set([...order, ...systems.keys()])) {
        const m = await measure(systems[i]!, "A", {
          clients,
          seconds,
          warmupSeconds: r === 0 ? 3 : 0.5,
          meter,
          postgresPid: pg.pid
        })
        if (r === 0) continue
        rows[i]!.s.push(m.serverCpuMs)
        rows[i]!.d.push(m.databaseCpuMs)
        rows[i]!.t.push(m.turnsPerSecond)
        rows[i]!.m.push(m.rssMiB)
      }
      console.error("round", st, r)
    }
    for (const s of systems) await s.stop()
  }
  report()
} finally {
  await pg.stop()
  for (const o of outs) o.remove()
}
process.exit(0)
