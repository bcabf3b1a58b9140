/** Usage of a workspace: what was asked, as days, and the sums over them. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Directory } from "../../src/agents/Directory.ts"
import { Spending } from "../../src/agents/Spending.ts"
import { Database } from "../../src/database/Database.ts"
import { limits } from "../../src/domain/limits.ts"
import { dayOf, dayText } from "../../src/domain/time.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { listUsage, reservedOf, type UsagePosition } from "../../src/usage/rows.ts"
import { usageGroupsOf } from "../../src/usage/usage.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Cursors, type Filter } from "../Cursors.ts"
import { Refused } from "../errors.ts"
import { pageSize } from "../pagination.ts"

const usualDays = 30

const positionOf = (after: ReadonlyArray<string | number> | undefined): UsagePosition | undefined => {
  const [day, agent, model] = after ?? []
  return typeof day === "string" && typeof agent === "string" && typeof model === "string"
    ? { day, agent, model }
    : undefined
}

/** Filters as they are kept: days, and groups in their own order, so that two ways to say the same agree. */
const plain = ({ from, groupBy, to, ...others }: Filter): Filter => ({
  ...others,
  from: from && dayText(dayOf(from)),
  to: to && dayText(dayOf(to)),
  groupBy: groupBy && usageGroupsOf(groupBy)?.join(",")
})

const refuse = (message: string) => new Refused({ error: "invalid_request", message })

/** The days that are meant: pages after the first have both ends from their cursor. */
const daysOf = ({ from, to }: Filter, now: number) => {
  const last = to === undefined ? Math.floor(now / 86_400_000) : dayOf(to)
  const first = from === undefined ? last - usualDays + 1 : dayOf(from)
  if (first > last) return refuse("from: expected a day that is not after to")
  return last - first < limits.usageDays
    ? { first, last }
    : refuse(`from: expected a day at most ${limits.usageDays - 1} days before to`)
}

export const UsageHandlers = HttpApiBuilder.group(
  Api,
  "usage",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const database = yield* Database
    const directory = yield* Directory
    const lease = yield* Lease
    const spending = yield* Spending

    const budgetOf = Effect.fnUntraced(function* (workspace: string, agentId: string) {
      const agent = yield* directory.agent(workspace, agentId)
      if (agent?.limit === undefined) return undefined
      const { limit, window } = agent
      const { spent } = yield* spending.of(workspace, agentId, window)
      return {
        limit,
        window,
        spent,
        reserved: yield* database.run("usage.reserved", (db) => reservedOf(db, workspace, agentId))
      }
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { cursor, limit, ...sent } }) {
        const { workspace } = yield* Caller
        const place = `usage ${workspace}`
        const { after, filter } = yield* cursors.open(place, cursor, plain(sent), { groupBy: "day" })
        const days = daysOf(filter, lease.now())
        if (days instanceof Refused) return yield* days
        const { agentId, groupBy = "day", model } = filter
        const wanted = { from: days.first, to: days.last, agentId, model, groups: usageGroupsOf(groupBy) ?? [] }
        const rows = pageSize("usage", limit)
        const found = yield* database.run("usage.list", (db) =>
          listUsage(db, workspace, wanted, { after: positionOf(after), limit: rows + 1 })
        )
        const page = found.slice(0, rows)
        const end = found.length > rows ? page.at(-1)?.position : undefined
        const budget = agentId === undefined ? undefined : yield* budgetOf(workspace, agentId)
        const held = { ...filter, groupBy, from: dayText(days.first), to: dayText(days.last) }
        return json({
          usage: page.map(({ sum }) => sum),
          ...(end !== undefined && { nextCursor: cursors.seal(place, held, [end.day, end.agent, end.model]) }),
          ...(budget !== undefined && { budget })
        })
      })
    })
  })
)
