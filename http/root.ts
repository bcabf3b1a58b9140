/**
 * `/`: where people and programs arrive first. A browser is led to the reference; a program is told where things are.
 * Needs no credential.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { json } from "./answers.ts"
import { header } from "./headers.ts"

export const rootPaths = ["/"]

/** Which of the two comes depends on what was asked for: a cache must not mix them up. */
const vary = { vary: "accept" }

/** Relative, so that it holds behind a proxy that gives the server a path of its own. */
const page = "docs"

const links = { name: "troupe", docs: "/docs", openapi: "/v1/openapi.json", health: "/healthz", ready: "/readyz" }

/** Browsers name text/html; clients of an API do not, and a wish for anything is none for a page. */
const wantsPage = (accept: string | undefined) =>
  (accept ?? "")
    .toLowerCase()
    .split(",")
    .some((range) => /^\s*text\/html\s*(?:;|$)/.test(range) && !/;\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)/.test(range))

export const layer = HttpRouter.add(
  "GET",
  "/",
  Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    wantsPage(header(request, "accept")) ? HttpServerResponse.redirect(page, { headers: vary }) : json(links, 200, vary)
  )
)
