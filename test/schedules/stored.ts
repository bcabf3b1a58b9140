/** A schedule as it is read, made when 2027 was four days old. */
import type { ScheduleInput } from "../../src/schedules/schedule.ts"
import { settled } from "../../src/schedules/settled.ts"
import type { StoredSchedule } from "../../src/schedules/shown.ts"

export const made = Date.parse("2027-01-04T00:00:00.000Z")

export const ref = {
  kind: "schedule",
  workspace: "wsp_00000000000000000000000000",
  id: "sch_00000000000000000000000000"
}

export const storedOf = (input: Partial<ScheduleInput>): StoredSchedule => ({
  id: ref.id,
  agentId: "agt_00000000000000000000000000",
  input: settled({
    name: "s",
    trigger: { type: "interval", seconds: 60 },
    target: { mode: "spawn" },
    message: { content: [{ type: "text", text: "x" }] },
    ...input
  }),
  hops: 0,
  rev: 1,
  anchor: made,
  createdAt: made,
  createdBy: { type: "api_key", id: "k" },
  updatedAt: made,
  deleted: false,
  carry: "{}"
})
