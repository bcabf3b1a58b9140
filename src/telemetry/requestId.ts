/**
 * The id of a request: the client's X-Request-Id when it is sane, else a fresh one. It is on every answer and on every
 * log line of a failure.
 */
import { freshBody } from "../seed.ts"

const sane = /^[A-Za-z0-9._:/+=-]{1,128}$/

export const requestIdOf = (sent: string | undefined) =>
  sent !== undefined && sane.test(sent) ? sent : `req_${freshBody()}`
