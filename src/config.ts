/**
 * The settings of one server process, read once from the environment. No other file reads the process's environment.
 *
 * Every variable is checked before anything starts, and all problems are told at once, each with what to do about it. A
 * name beginning with TROUPE_ that is no variable is told too: most likely it is one of them, mistyped.
 */
import { Config, ConfigProvider, Context, Data, Effect, Option, type Redacted, Result } from "effect"
import type { Mode } from "./config/forms.ts"
import { commandVariables, serverVariables } from "./config/variables.ts"

export type { Mode } from "./config/forms.ts"

/** What the programs that are started from here inherit, and where keys of models' providers are found. */
export const environment: Readonly<Record<string, string | undefined>> = process.env

/** A problem with the environment; `problems` has one line per variable. */
export class BadConfiguration extends Data.TaggedError("BadConfiguration")<{
  readonly problems: ReadonlyArray<string>
}> {
  override get message() {
    return this.problems.join("\n")
  }
  static readonly of = (errors: ReadonlyArray<Config.ConfigError>, ...more: ReadonlyArray<string>) =>
    new BadConfiguration({ problems: [...errors.map(({ cause }) => cause.message), ...more] })
}

/** All variables of a server, as docs/configuration.md tells them. */
export const variables = Object.values(serverVariables("dev"))
export const variableNames: ReadonlyArray<string> = variables.map(({ variable }) => variable)

const known: ReadonlySet<string> = new Set([
  ...variableNames,
  ...Object.values(commandVariables).map(({ variable }) => variable)
])

/** One line for each name that looks like a variable and is none. */
const strangersOf = (names: ReadonlyArray<string>) =>
  names
    .filter((name) => name.startsWith("TROUPE_") && !known.has(name))
    .map((name) => `${name} is no variable of Troupe's: docs/configuration.md has their names.`)

type Values = {
  readonly [K in keyof ReturnType<typeof serverVariables>]: Config.Success<ReturnType<typeof serverVariables>[K]>
}

const read = Effect.fn("Settings.read")(function* (
  mode: Mode,
  names: ReadonlyArray<string>,
  { migrate = true }: { readonly migrate?: boolean }
) {
  const results = yield* Effect.all(serverVariables(mode), { mode: "result" })
  const strangers = strangersOf(names)
  const each: ReadonlyArray<Result.Result<unknown, Config.ConfigError>> = Object.values(results)
  const failures = each.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
  if (failures.length > 0) return yield* BadConfiguration.of(failures, ...strangers)
  const values: Values = yield* Effect.mapError(Effect.fromResult(Result.all(results)), (error) =>
    BadConfiguration.of([error])
  )
  return Settings.of({ ...values, mode, migrate, strangers })
})

export class Settings extends Context.Service<
  Settings,
  Values & {
    readonly mode: Mode
    /** False under `--no-migrate`: refuse to start on an old schema instead of changing it. */
    readonly migrate: boolean
    /** What a start warns of: names in the environment that are most likely mistyped. */
    readonly strangers: ReadonlyArray<string>
  }
>()("troupe/Settings") {
  /** Reads the process's environment. */
  static readonly read = (mode: Mode, options: { readonly migrate?: boolean } = {}) =>
    read(mode, Object.keys(environment), options)

  /** What a command that talks to a server reads: each only where it is needed, so that nothing else must be right. */
  static readonly forCommands = { ...serverVariables("dev"), ...commandVariables }

  /** Only where the database is: for operators' commands, which need nothing else to be right. */
  static readonly readDatabase = Effect.all({
    databaseUrl: Settings.forCommands.databaseUrl,
    dataFolder: Settings.forCommands.dataFolder
  }).pipe(Effect.mapError((error) => BadConfiguration.of([error])))

  /** What is most likely going to be started here: a production node where a database is named. */
  static readonly suited = Effect.map(
    Effect.option(Config.NonEmptyString(Settings.forCommands.databaseUrl.variable)),
    (found): Mode => (Option.isSome(found) ? "serve" : "dev")
  )

  /** The same from a record, for tests. */
  static readonly fromRecord = (
    mode: Mode,
    record: Readonly<Record<string, string>>,
    options: { readonly migrate?: boolean } = {}
  ) =>
    read(mode, Object.keys(record), options).pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(record)))
    )
}

/** What a node runs on: the embedded database has a URL by then, and there is a key to sign with. */
export type NodeSettings = Settings["Service"] & { readonly databaseUrl: Redacted.Redacted<string> }
