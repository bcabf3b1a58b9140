/**
 * A program that is kept running beside us: its lines go to our terminal with its name in front, and when
 * it dies, that is said and it is started again.
 *
 * P1. It is in a process group of its own: Ctrl-C reaches us alone, and we end it in order. It ends in any
 *     case when we do.
 * P2. One that does not even come up at first, or dies again and again, ends the whole.
 */
import { Console, Data, Effect, Fiber, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface Program {
  /** Said in front of each line. */
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env?: NodeJS.ProcessEnv
  /** Whether its output is shown. */
  readonly shown: boolean
  /** It hears when we are gone by an IPC channel. */
  readonly listens: boolean
  /** Whether it does its work. */
  readonly isReady: () => Promise<boolean>
  /** Milliseconds from SIGTERM to SIGKILL. */
  readonly patienceMs: number
}

/** P2. */
export class KeepsDying extends Data.TaggedError("KeepsDying")<{ readonly name: string; readonly how: string }> {
  override get message() {
    return `${this.name} does not stay up (${this.how}).`
  }
}

class EndedEarly extends Data.TaggedError("EndedEarly")<{ readonly how: string }> {}

const startMs = 60_000
const pauseMs = 1_000
/** Starts in a row that may fail, once it was up. */
const mostFailures = 5

const show = (name: string, child: ChildProcess) => {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on("line", (line) => process.stdout.write(`${name} │ ${line}\n`))
  }
}

const launch = ({ args, command, env, listens, name, patienceMs, shown }: Program) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const output = shown ? "pipe" : "ignore"
      const child = spawn(command, args, {
        env,
        detached: true,
        stdio: ["ignore", output, output, ...(listens ? ["ipc" as const] : [])]
      })
      if (shown) show(name, child)
      const gone = new Promise<string>((resolve) => {
        child.once("error", (error) => resolve(error.message))
        child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`))
      })
      // Whatever ends us ends it: a second Ctrl-C does not wait for anybody.
      const kill = () => {
        child.kill("SIGKILL")
      }
      process.once("exit", kill)
      void gone.then(() => process.off("exit", kill))
      return { child, gone }
    }),
    ({ child, gone }) =>
      Effect.promise(() => {
        child.kill("SIGTERM")
        const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs)
        return gone.finally(() => clearTimeout(timer))
      })
  )

const untilReady = (program: Program) =>
  Effect.promise(() => program.isReady().catch(() => false)).pipe(
    Effect.repeat({ until: (ready) => ready, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({
      duration: startMs,
      orElse: () => Effect.fail(new EndedEarly({ how: `not ready after ${startMs / 1_000} s` }))
    })
  )

/** From its start to its end: how it ended. */
const life = (program: Program, onReady: Effect.Effect<void>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { gone } = yield* launch(program)
      const early = Effect.flatMap(
        Effect.promise(() => gone),
        (how) => Effect.fail(new EndedEarly({ how }))
      )
      yield* Effect.raceFirst(untilReady(program), early)
      yield* onReady
      return yield* Effect.promise(() => gone)
    })
  )

/** Never returns; `onFirst` once it is up for the first time. */
export const keep = Effect.fn("cli.keep")(function* (program: Program, onFirst: Effect.Effect<void>) {
  const { name } = program
  let ups = 0
  let failures = 0
  const onReady = Effect.suspend(() => {
    failures = 0
    return ups++ === 0 ? onFirst : Console.error(`${name} is up again`)
  })
  for (;;) {
    const how = yield* life(program, onReady).pipe(
      Effect.catch(({ how }) =>
        ups === 0 || ++failures === mostFailures ? Effect.fail(new KeepsDying({ name, how })) : Effect.succeed(how)
      )
    )
    yield* Console.error(`${name} ended (${how}); it is started again`)
    yield* Effect.sleep(pauseMs)
  }
})

/**
 * Keeps it for as long as the scope is open; returns when it is up. What makes it unkeepable is given to `onBroken`.
 */
export const keepBeside = Effect.fn("cli.keepBeside")(function* (
  program: Program,
  onBroken: (cause: KeepsDying) => Effect.Effect<void>
) {
  const up = Promise.withResolvers<void>()
  const kept = yield* Effect.forkScoped(keep(program, Effect.sync(up.resolve)).pipe(Effect.tapError(onBroken)))
  yield* Effect.raceFirst(
    Effect.promise(() => up.promise),
    Fiber.join(kept)
  )
})
