/**
 * `/docs`: the reference page, and `/v1/openapi.json` that it shows. The page carries its script, and
 * its policy lets it talk to this server only: no request leaves the machine.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { jsonText } from "./answers.ts"

export const referencePaths = ["/docs", "/v1/openapi.json"]

const policy = [
  "default-src 'none'", "script-src 'unsafe-inline' 'unsafe-eval'", "style-src 'unsafe-inline'", "img-src 'self' data: blob:",
  "font-src 'self' data:", "connect-src 'self'", "worker-src blob:", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"
].join("; ")

const guarded = HttpRouter.middleware((page) => Effect.map(page, HttpServerResponse.setHeaders({
  "content-security-policy": policy, "referrer-policy": "no-referrer"
}))).layer

/** No fonts from elsewhere, and no toolbar that would upload the document to somebody's service. */
const scalar = {
  withDefaultFonts: false,
  showDeveloperTools: "never",
  authentication: { preferredSecurityScheme: "APIKeyBearer" }
}

export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  let document: HttpServerResponse.HttpServerResponse | undefined
  return Layer.mergeAll(
    HttpApiScalar.layer(api, { path: "/docs", scalar }).pipe(Layer.provide(guarded)),
    // Generated when first asked for, once.
    HttpRouter.add("GET", "/v1/openapi.json", Effect.sync(() => document ??= jsonText(JSON.stringify(OpenApi.fromApi(api)))))
  )
}
