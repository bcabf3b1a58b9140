/** What a schedule tells webhooks of (contract C44.2): runs that have failed, and that it was disabled. */
import type { Fact } from "../../machines/schedule/facts.ts"
import { type Announcement, announcement } from "../../src/webhooks/event.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"

export const announcedBy = (
  { id: scheduleId, workspace }: ActorRef,
  agentId: string,
  facts: ReadonlyArray<Fact>
): ReadonlyArray<Announcement> =>
  facts.flatMap((fact) => {
    if (fact.type === "disabled")
      return [announcement(workspace, "schedule.disabled", { agentId, scheduleId }, fact.at)]
    if (fact.type !== "ran" || fact.status !== "failed") return []
    return [announcement(workspace, "schedule.failed", { agentId, scheduleId, runId: fact.run.runId }, fact.at)]
  })
