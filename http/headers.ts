/**
 * What a client sent in its headers, as Node holds it: the library's own request copies all of them when it is asked
 * for one.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { HttpServerRequest } from "effect/http"
import type { Socket } from "node:net"

export const header = (request: HttpServerRequest.HttpServerRequest, name: Lowercase<string>): string | undefined => {
  const sent = NodeHttpServerRequest.toIncomingMessage(request).headers[name]
  return Array.isArray(sent) ? sent.join(", ") : sent
}

/** What the request came on: the same object for all requests of a connection. */
export const socketOf = (request: HttpServerRequest.HttpServerRequest): Socket =>
  NodeHttpServerRequest.toIncomingMessage(request).socket

/** The credential of `Authorization: Bearer …`; undefined without one. */
export const bearerOf = (request: HttpServerRequest.HttpServerRequest): string | undefined =>
  /^bearer +(\S+)\s*$/i.exec(header(request, "authorization") ?? "")?.[1]
