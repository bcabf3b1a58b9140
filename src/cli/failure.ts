/** How commands fail: a message for a person, rendered by the command line. */
import { Effect } from "effect"
import { CliError } from "effect/cli"
import { printable } from "./printable.ts"

/** The message may hold what a server, a database or a file says. */
export const failure = (userMessage: string, cause: unknown = userMessage) =>
  new CliError.UserError({ cause, userMessage: printable(userMessage) })

const startCodeOf = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("code" in error && typeof error.code === "string") return error.code
  if ("cause" in error && error.cause !== error) return startCodeOf(error.cause)
  return "errors" in error && Array.isArray(error.errors) ? startCodeOf(error.errors[0]) : undefined
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** What a start that failed says, and what to do about it. */
export const explainStart = (error: unknown, port: number) => {
  switch (startCodeOf(error)) {
    case "EADDRINUSE":
      return failure(`Port ${port} is taken. Stop what listens there, or choose another with TROUPE_PORT.`, error)
    case "EACCES":
      return failure(`Port ${port} may not be opened by this user. Choose one above 1023 with TROUPE_PORT.`, error)
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "ETIMEDOUT":
      return failure(
        `The database does not answer: ${messageOf(error)}. Check TROUPE_DATABASE_URL; troupe doctor tells more.`,
        error
      )
    case "28P01":
    case "28000":
      return failure("The database refuses the user or password of TROUPE_DATABASE_URL.", error)
    case "3D000":
      return failure("The database that TROUPE_DATABASE_URL names does not exist. Create it first.", error)
    default:
      return failure(messageOf(error), error)
  }
}

export const explained =
  (port: number) =>
  <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.mapError(program, (error) => (CliError.isCliError(error) ? error : explainStart(error, port)))
