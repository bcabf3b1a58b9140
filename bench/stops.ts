/** What a comparison of commits begins, and how it is undone. */
import type { Meter } from "./database.ts"
import { startTroupe, type System } from "./systems.ts"

/** Steps that undo what was begun, carried out from the last to the first; also on Ctrl-C. */
export const makeStops = () => {
  const stops: Array<() => Promise<void> | void> = []
  const undo = async () => {
    // One by one: what is begun meanwhile is undone too.
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop())
      await Promise.resolve(stop()).catch(console.error)
  }
  let undone: Promise<void> | undefined
  // On Ctrl-C what was under way breaks as well, and would end the process before all is undone.
  const all = () => (undone ??= undo())
  process.once("SIGINT", () => void all().finally(() => process.exit(130)))
  return { stops, all }
}

/** How a server that is compared is run: a checkout other than this one, or flags of Node. */
interface Program {
  readonly checkout?: string
  readonly flags?: ReadonlyArray<string>
}

interface Compared {
  readonly meter: Meter
  readonly programs: ReadonlyArray<Program>
  readonly agents: number
  readonly stops: ReturnType<typeof makeStops>["stops"]
}

/** Starts the program at a place in the list, with a new database of its own. */
export const starting =
  ({ agents, meter, programs, stops }: Compared) =>
  async (place: number): Promise<System> => {
    const name = `bench_${place}`
    const system = await startTroupe(name, await meter.createDatabase(name), { agents, ...programs[place] })
    stops.push(system.stop)
    return system
  }
