/**
 * kill -9 of the real server at random moments of a mixed script, and a start on the same data each
 * time: every turn ends, once; nothing that was acknowledged is missing; the log has no gaps.
 */
import { afterEach, assert, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { toUuid } from "../../src/domain/ids.ts"
import { type FactColumns, factColumns, storedFact } from "../../src/journal/storedFact.ts"
import { openTurns, type Recorded, recorded, unaccounted, violations } from "../invariants.ts"
import { databaseDuring } from "../setup/database.ts"
import { eventually } from "../waiting.ts"
import { Child } from "./Child.ts"
import { cli, madeKey, mortalEnv } from "./mortal.ts"
import { Mixed, randomOf, request, type Somewhere } from "./Mixed.ts"

/** More by environment; what a run does between them differs by its seed. */
const kills = Number(process.env.TROUPE_KILLS ?? 4)
const clients = 6
const seed = Number(process.env.TROUPE_SEED ?? randomBytes(4).readUInt32LE())

const database = await databaseDuring()
const env = mortalEnv(database.url)
let alive: Child | undefined

afterEach(() => alive?.end("SIGKILL"))

/** Lives of one server after another. */
const lives = (key: string) => {
  let base = new Promise<string>(() => {})
  return {
    server: { key, base: () => base } satisfies Somewhere,
    start: () => {
      const child = (alive = new Child(process.execPath, [cli, "serve"], { env }))
      base = child.until(/"url":"(http:[^"]+)"/).then(([, url]) => url ?? assert.fail("no url"))
      // A client that waits for it hears of it; a start that fails ends the test below.
      base.catch(() => {})
      return base
    },
    kill: () => alive?.end("SIGKILL") ?? assert.fail("nothing runs")
  }
}

const storedLog = async (pool: pg.Pool, threadId: string): Promise<ReadonlyArray<Recorded>> => {
  const { rows } = await pool.query<FactColumns>(
    `select ${factColumns} from facts f where f.actor = $1 order by f.pos`,
    [toUuid(threadId)]
  )
  return rows.map((row) => recorded(storedFact(row)))
}

/** A server that is up, and an agent to try. */
const setting = async () => {
  const key = await madeKey(env)
  const life = lives(key)
  await life.start()
  const profile = await request(life.server, "POST", "/v1/profiles", { name: "Mixed", models: ["troupe/scripted"] })
  const agent = await request(life.server, "POST", "/v1/agents", {
    name: "Mixed",
    profileId: (profile.body.profile as { readonly id: string }).id
  })
  return { ...life, agentId: (agent.body.agent as { readonly id: string }).id }
}

it(`loses nothing over ${kills} kills`, { timeout: 60_000 + 15_000 * kills }, async () => {
  const began = performance.now()
  console.log(`kill -9: TROUPE_SEED=${seed}`)
  const random = randomOf(seed)
  const { agentId, kill, server, start } = await setting()
  const users: Array<Mixed> = []
  let working = true
  const work = Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      for (let round = 0; working; round++) {
        const user = new Mixed(server, `c${i}.${round}`, randomOf(seed + i * 1_000 + round))
        users.push(user)
        await user.create(agentId)
        for (let steps = 25; steps > 0 && working; steps--) {
          await user.step()
          if (user.random() < 0.3) await sleep(user.random() * 100)
        }
      }
    })
  )
  const killing = async () => {
    for (let i = 0; i < kills; i++) {
      await sleep(100 + random() * 700)
      await kill()
      await start()
    }
  }
  // Whatever a client complains of ends the test at once.
  await Promise.race([killing(), work])
  // The last life is worked with as well.
  const answers = () => users.reduce((sum, { answered }) => sum + answered, 0)
  const before = answers()
  await Promise.race([eventually(() => answers() > before + 10 * clients, "clients are answered again"), work])
  working = false
  await work
  await Promise.all(users.map((user) => user.rest()))

  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const outcomes: Record<string, number> = {}
  for (const user of users) {
    const { threadId } = user
    const log = await storedLog(pool, threadId)
    assert.deepStrictEqual(violations(log), [], threadId)
    assert.deepStrictEqual(openTurns(log), [], threadId)
    const { accepted, joins, unordered } = user
    assert.deepStrictEqual(
      unaccounted(log, { accepted, joins, unordered, pending: [], removed: await user.gone() }),
      [],
      threadId
    )
    user.keptPromises(log)

    const told = await user.events()
    assert.deepStrictEqual(
      told.map(({ seq, turnId, type }) => ({ seq, turnId, type })),
      log.filter((fact) => fact.public).map(({ seq, turn, type }) => ({ seq, turnId: turn, type }))
    )
    const {
      rows: [head]
    } = await pool.query("select pos, seq, runnable_at, since from heads where id = $1", [toUuid(threadId)])
    assert.deepStrictEqual(head, { pos: log.length, seq: told.length, runnable_at: null, since: null })
    const { rows: waiting } = await pool.query("select id from inputs where actor = $1 and state = 'pending'", [
      toUuid(threadId)
    ])
    assert.deepStrictEqual(waiting, [])
    for (const { type, event } of log)
      if (type.startsWith("turn_"))
        outcomes[String(event.failureCode ?? type)] = (outcomes[String(event.failureCode ?? type)] ?? 0) + 1
  }
  await pool.end()
  const sum = (of: (user: Mixed) => number) => users.reduce((total, user) => total + of(user), 0)
  console.log(
    `kill -9: ${kills} kills, ${users.length} threads, ${sum((user) => user.accepted.length)} inputs acknowledged, ${sum((user) => user.answered)} requests answered, ` +
      `${sum((user) => user.replays)} replays asked for; turns: ${JSON.stringify(outcomes)}; ${Math.round((performance.now() - began) / 100) / 10} s`
  )
})

it("completes the turn that ran when it was killed, once", async () => {
  const { agentId, kill, server, start } = await setting()
  const user = new Mixed(server, "wait", randomOf(seed))
  await user.begin(agentId, "A\n/wait 3s")
  await eventually(
    async () => (await request(server, "GET", `/v1/threads/${user.threadId}`)).body.status === "running",
    "its turn runs"
  )
  await kill()
  await start()
  await user.rest()
  const told = await user.events()
  assert.deepStrictEqual(
    told.map(({ seq, type }) => [seq, type]),
    [
      [1, "user_message"],
      [2, "assistant_message"],
      [3, "turn_completed"]
    ]
  )
}, 120_000)
