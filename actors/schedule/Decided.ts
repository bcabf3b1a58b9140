/**
 * What a run is decided on: its schedule as it was read for that, which is what its message is begun with, too. It is
 * kept for as long as the run that was decided is this very object: after a crash, and when the message is tried again,
 * the schedule is read anew.
 */
import type { Firing } from "../../machines/schedule/commands.ts"
import type { StoredSchedule } from "../../src/schedules/shown.ts"

export class Decided {
  private readonly schedules = new WeakMap<Firing, StoredSchedule>()

  note(run: Firing, schedule: StoredSchedule) {
    this.schedules.set(run, schedule)
  }

  /** Once. */
  take(run: Firing): StoredSchedule | undefined {
    const schedule = this.schedules.get(run)
    this.schedules.delete(run)
    return schedule
  }
}
