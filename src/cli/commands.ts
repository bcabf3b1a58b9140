/** All commands of `troupe`, and how the process ends. */
// First, before any schema is made: what comes in is decoded by compiled code.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import { CliError, Command } from "effect/cli"
import { version } from "../version.ts"
import { devCommand, doctorCommand, keysCommand, migrateCommand, serveCommand } from "./operating.ts"
import { printable } from "./printable.ts"
import { leaveOnHangup } from "./signals.ts"
import { send, tail, threads } from "./threads.ts"
import { approve, deny, waits } from "./waits.ts"

const troupe = Command.make("troupe").pipe(
  Command.withDescription("Run AI agents as durable threads"),
  Command.withSubcommands([
    devCommand,
    serveCommand,
    migrateCommand,
    keysCommand,
    doctorCommand,
    threads,
    send,
    tail,
    waits,
    approve,
    deny
  ])
)

/**
 * Failures that the command line has not shown yet: a message for a person, no stack. Defects are bugs and show all.
 */
const shown = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.tapCause(program, (cause) => {
    const error = Cause.squash(cause)
    if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)) return Effect.void
    return Console.error(
      cause.reasons.some(Cause.isFailReason) && error instanceof Error
        ? `\nERROR\n  ${printable(error.message).replaceAll("\n", "\n  ")}`
        : printable(Cause.pretty(cause))
    )
  })

/** What `troupe` does with these arguments. A failure is shown before the effect fails with it. */
export const program = (args: ReadonlyArray<string>) => shown(Command.runWith(troupe, { version })(args))

/** Runs what the arguments of the process say. A signal is a normal end: exit code 0. */
export const runCommandLine = () => {
  leaveOnHangup()
  program(process.argv.slice(2)).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      teardown: (exit, end) =>
        Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? end(0) : Runtime.defaultTeardown(exit, end)
    })
  )
}
