/** The schedule kind in its registry. Nobody calls it: transactions tell its actors by their inbox, and time does. */
import { Effect, Layer } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { Database } from "../../src/database/Database.ts"
import { makeScheduleReader } from "../../src/schedules/reading.ts"
import { makeTaken } from "../../src/schedules/taken.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { makeRegistry, type RegistryOptions } from "../Registry.ts"
import { Threads } from "../thread/Threads.ts"
import { Decided } from "./Decided.ts"
import { makeScheduleKind } from "./kind.ts"
import { makeIsOver, makeUntilOver } from "./lastTurn.ts"
import { makePerform } from "./perform.ts"
import { makePrepare } from "./prepare.ts"

export const layer = (options: RegistryOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const bus = yield* Bus
      const decided = new Decided()
      const database = yield* Database
      const read = makeScheduleReader(database)
      const directory = yield* Directory
      const isOver = makeIsOver(yield* ThreadReads)
      const threads = yield* Threads
      yield* makeRegistry(
        makeScheduleKind({
          prepare: makePrepare({ decided, directory, isOver, read }),
          perform: makePerform({
            decided,
            isOver,
            read,
            taken: makeTaken(database),
            threads,
            untilOver: makeUntilOver(bus, isOver)
          }),
          webhooks: yield* WebhookInterest
        }),
        options
      )
    })
  )
