/**
 * The interface as one value: every group, behind one middleware, under /v1. OpenAPI, the reference,
 * the routes and the typed client come from it.
 *
 * How a group is added
 * 1. `http/<group>/api.ts`: schemas and endpoints only, no server code. One exported group:
 *
 *      export const ThreadsApi = HttpApiGroup.make("threads").add(
 *        HttpApiEndpoint.get("get", "/threads/:threadId", {
 *          params: { threadId: idOf("thread") },          // a bad id in a path is a 404, before any query
 *          success: ThreadDetail,
 *          error: refuses("not_found")                    // the words of http/errors.ts; the common ones are implied
 *        }).annotateMerge(access("read", { lease: true, parks: true })),   // scope; schemes; 202 wrapper
 *        …
 *
 *    Paths are without /v1. Query parameters: `limitOf(list)`, `CursorParam` (http/pagination.ts), `whole(min, max)`,
 *    `Schema.optional(..)` (http/Validate.ts). Every property of a body is strict; optional ones are `optionalKey`.
 *    Created things: `.pipe(HttpApiSchema.status(201))`, Location by `created(..)` of http/answers.ts.
 *    operationId is `<group>.<endpoint>`; `OpenApi.annotations({ summary, description })` for the reference.
 * 2. Add the group to the list below. Middleware and prefix follow by themselves.
 * 3. `http/<group>/handlers.ts`: `HttpApiBuilder.group(Api, "<group>", (handlers) => …)`, a layer named `<Group>Handlers`;
 *    `yield* Caller` for workspace and principal; refuse with `new Refused({ error, message })`; journal failures pass as they are.
 *    POST that creates: wrap it in `idempotent(..)` (http/Idempotency.ts).
 *    Hot routes: `handleRaw` with `yield* body(request)` from a decoder made once by `decodeJson(schema)` (http/Body.ts), answer
 *    with `jsonText(text)` (http/answers.ts).
 * 4. Add the layer to the list in http/Routes.ts, and the operations to test/http/specification.ts.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { Authenticate } from "./Authenticate.ts"

export class Api extends HttpApi.make("troupe")
  .middleware(Authenticate)
  .prefix("/v1")
  .annotateMerge(OpenApi.annotations({ title: "Troupe", version: "v1" }))
{}
