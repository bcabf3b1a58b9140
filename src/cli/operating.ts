/**
 * The commands of operators: names and flags. The program of each is imported when it is run. So the commands that only
 * ask a server load no library of a database, and start in half the time.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { scopes } from "../keys/scopes.ts"
import { output } from "./output.ts"

/** A handler that is imported when it is run. */
const later =
  <Input, A, E, R>(handler: () => Promise<(input: Input) => Effect.Effect<A, E, R>>) =>
  (input: Input) =>
    Effect.flatMap(Effect.promise(handler), (run) => run(input))

export const devCommand = Command.make(
  "dev",
  {
    nodes: Flag.Int("nodes").pipe(
      Flag.withDefault(1),
      Flag.filter(
        (nodes) => nodes >= 1 && nodes <= 9,
        () => "give a number of nodes from 1 to 9"
      ),
      Flag.withDescription(
        "How many nodes, each a process: a cluster on the ports from TROUPE_PORT on, with a nats-server found on PATH"
      )
    )
  },
  later(async () => (await import("./dev.ts")).dev)
).pipe(Command.withDescription("Nothing else needed: embedded PostgreSQL, scripted models, a key and a demo agent"))

export const serveCommand = Command.make(
  "serve",
  {
    migrate: Flag.Boolean("migrate").pipe(
      Flag.withDefault(true),
      Flag.withDescription(
        "Bring the database to this version's tables first; --no-migrate refuses to start on older ones"
      )
    )
  },
  later(async () => (await import("./serve.ts")).serve)
).pipe(Command.withDescription("A production node; needs TROUPE_DATABASE_URL"))

export const migrateCommand = Command.make(
  "migrate",
  {},
  later(async () => (await import("./migrate.ts")).migrateNow)
).pipe(Command.withDescription("Bring the database to this version's tables"))

const createKey = Command.make(
  "create",
  {
    workspace: Flag.String("workspace").pipe(
      Flag.withDefault("default"),
      Flag.withDescription("Workspace's name; made if missing")
    ),
    name: Flag.String("name").pipe(Flag.withDefault("operator"), Flag.withDescription("Name of the key in lists")),
    scopes: Flag.String("scopes").pipe(
      Flag.optional,
      Flag.withDescription(`Comma-separated: ${scopes.join(",")}; all by default`)
    ),
    output
  },
  later(async () => (await import("./keys.ts")).create)
).pipe(Command.withDescription("Make an API key and show it once"))

export const keysCommand = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([createKey])
)

export const doctorCommand = Command.make(
  "doctor",
  {
    output,
    mode: Flag.Literals("mode", ["dev", "serve"]).pipe(
      Flag.optional,
      Flag.withDescription("Command that is going to be started; serve if TROUPE_DATABASE_URL is set")
    )
  },
  later(async () => (await import("./doctor.ts")).doctor)
).pipe(Command.withDescription("Check what a server needs, and say what to do"))
