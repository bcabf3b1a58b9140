/**
 * `/docs`: the reference page, and `/v1/openapi.json` that it shows. The page carries its script, and
 * its policy lets it talk to this server only: no request leaves the machine.
 *
 * `/docs/` leads to it, for who types it so.
 *
 * D1. Megabytes for whoever asks, without a credential: all are sent the same bytes, so that who does not read them
 *     holds nothing of this node's memory. (A text would be encoded once for each of them.)
 */
import { Effect, Layer } from "effect"
import { HttpBody, HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { jsonText } from "./answers.ts"

export const referencePaths = ["/docs", "/docs/", "/v1/openapi.json"]

const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

/** D1. */
const inBytes = (made: HttpServerResponse.HttpServerResponse) =>
  made.body._tag === "Uint8Array"
    ? HttpServerResponse.setBody(made, HttpBody.uint8Array(made.body.body, made.body.contentType))
    : made

/** The page is the same at every request: the first is kept. */
const guarded = HttpRouter.middleware(
  Effect.sync(() => {
    let shown: HttpServerResponse.HttpServerResponse | undefined
    return (page) =>
      Effect.map(
        page,
        (made) =>
          (shown ??= inBytes(
            HttpServerResponse.setHeaders(made, {
              "content-security-policy": policy,
              "referrer-policy": "no-referrer"
            })
          ))
      )
  })
).layer

/** Two masks, one behind the other. */
const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="20" cy="13" r="10" ` +
  `fill="#f59e0b"/><circle cx="12" cy="19" r="10" fill="#1f2937"/><circle cx="9" cy="17" r="1.5" ` +
  `fill="#fff"/><circle cx="15" cy="17" r="1.5" fill="#fff"/><path d="M7 21q5 5 10 0" stroke="#fff" ` +
  `stroke-width="1.5" fill="none" stroke-linecap="round"/></svg>`

/**
 * No fonts from elsewhere, and neither toolbar nor button that would take the document to somebody's service. Of
 * samples only ours (openapi/curl.ts): those that the page makes up itself send every optional header, empty, and are
 * refused.
 */
const scalar = {
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  hiddenClients: true,
  favicon: `data:image/svg+xml,${encodeURIComponent(icon)}`,
  authentication: { preferredSecurityScheme: "APIKeyBearer" }
}

export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  let document: HttpServerResponse.HttpServerResponse | undefined
  return Layer.mergeAll(
    HttpApiScalar.layer(api, { path: "/docs", scalar }).pipe(Layer.provide(guarded)),
    // Relative, so that it holds behind a proxy that gives the server a path of its own.
    HttpRouter.add("GET", "/docs/", HttpServerResponse.redirect("../docs")),
    // Generated when first asked for, once.
    HttpRouter.add(
      "GET",
      "/v1/openapi.json",
      Effect.sync(() => (document ??= inBytes(jsonText(JSON.stringify(OpenApi.fromApi(api))))))
    )
  )
}
