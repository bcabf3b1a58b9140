/**
 * The interface as one value: every group, behind one middleware, under /v1. OpenAPI, the reference,
 * the routes and the typed client come from it.
 *
 * How a group is added
 * 1. `http/<group>/api.ts`: schemas and endpoints only, no server code: it runs in a browser
 *    (test/http/contractAlone.test.ts). One exported group:
 *
 *      export const ThreadsApi = HttpApiGroup.make("threads").add(
 *        HttpApiEndpoint.get("get", "/threads/:threadId", {
 *          params: { threadId: idOf("thread") },          // a bad id in a path is a 404, before any query
 *          success: ThreadDetail,
 *          error: refuses("not_found")                    // the words of http/errors.ts; the common ones are implied
 *        }).annotateMerge(access("read", { lease: true, parks: true })),   // scope; schemes; 202 wrapper
 *        …
 *
 *    Paths are without /v1. No headers in the contract unless they are needed: decoding them costs. Query parameters:
 *    `limitOf(list)`, `CursorParam` (http/pagination.ts), `whole(min, max)`, `flag` (http/parameters.ts).
 *    Every property of a body is strict; optional ones are `optionalKey`. Created things:
 *    `.pipe(HttpApiSchema.status(201))`, Location by the `headers` of their answer. operationId is
 *    `<group>.<endpoint>`; `OpenApi.annotations({ summary, description })` for the reference.
 * 2. Add the group to the list below, where its work comes. Middleware and prefix follow by themselves.
 * 3. `http/<group>/handlers.ts`: `HttpApiBuilder.group(Api, "<group>", (handlers) => handlers.handleAll({ … }))`, a
 *    layer named `<Group>Handlers`; `yield* Caller` for workspace and principal; refuse with
 *    `new Refused({ error, message })`; outages of journal and database pass as they are. A POST that changes rows:
 *    `yield* writes.post(name, (tx) => …)` (http/writes.ts); one that tells an actor something:
 *    `yield* idempotent((key) => …)` (http/Idempotency.ts). OpenAPI shows the header by itself. Hot routes:
 *    `handleRaw`, before `handleAll`; the body by a decoder made once, `const decode = decodeJson(schema)` and
 *    `yield* decode(request)` (http/Body.ts), the answer by `jsonText(text)` (http/answers.ts).
 * 4. Add the layer to the list in http/Routes.ts, the operations to test/http/specification/operations.ts, and one of
 *    what a new path parameter leads to to test/http/everything.ts: scopes, foreign ids and generated requests are
 *    tested from the document.
 * 5. `npm run openapi` writes docs/openapi.json.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AgentsApi } from "./agents/api.ts"
import { ApprovalsApi } from "./approvals/api.ts"
import { AuthApi } from "./auth/api.ts"
import { ConnectionsApi } from "./connections/api.ts"
import { contract } from "./contract.ts"
import { EventsApi } from "./events/api.ts"
import { FeedsApi } from "./feeds/api.ts"
import { HooksApi } from "./hooks/api.ts"
import { IdentitiesApi } from "./identities/api.ts"
import { ImagesApi } from "./images/api.ts"
import { ActorsApi } from "./inspection/api.ts"
import { ChartsApi } from "./charts/api.ts"
import { LimitsApi } from "./limits/api.ts"
import { MemoryApi, SharedMemoryApi } from "./memory/api.ts"
import { MessagesApi } from "./messages/api.ts"
import { ModelsApi } from "./models/api.ts"
import { NodesApi } from "./nodes/api.ts"
import { OperationsApi } from "./operations/api.ts"
import { ProfilesApi } from "./profiles/api.ts"
import { QueueApi } from "./queue/api.ts"
import { RolesApi } from "./roles/api.ts"
import { SchedulesApi } from "./schedules/api.ts"
import { StreamsApi } from "./streams/api.ts"
import { SubscriptionsApi } from "./subscriptions/api.ts"
import { ThreadsApi } from "./threads/api.ts"
import { ToolsApi } from "./tools/api.ts"
import { ToolsetsApi } from "./toolsets/api.ts"
import { UsageApi } from "./usage/api.ts"
import { WaitsApi } from "./waits/api.ts"
import { WebhooksApi } from "./webhooks/api.ts"

const description = `Work happens in threads: a message to a thread is admitted, runs as a turn, and is recorded in \
the thread's
durable event log. To start one, make a profile, an agent that follows it, and a thread with a first message; then \
read its events.

- **Credentials.** \`Authorization: Bearer <key>\`. Each operation names the scope that it needs.
- **Errors.** One shape for all: \`error\` is a stable word to act on, \`code\` a finer cause, \`message\` for people. \
\`X-Request-Id\` names the request.
- **Strictness.** Unknown fields and parameters are refused; answers may grow fields at any time.
- **Samples.** They take the address and the key from the shell: \`url=http://127.0.0.1:4100 key=trp_…\`. Of a \
development server they name the demo agent; ids that only you know are variables too, such as \`threadId=thr_…\`.
- **Lists.** \`nextCursor\` is there while more rows remain: pass it back as \`cursor\`.
- **Repeats.** A POST with an \`Idempotency-Key\` takes effect once in 24 hours, however often it is sent.
- **Changes.** PATCH is a JSON Merge Patch; with \`If-Match\` it holds only for the version that you have read.`

export class Api extends contract(
  HttpApi.make("troupe").add(
    // In the order of work, which the reference shows: what an agent needs, what it does, who and what it may ask, who
    // may do what.
    ModelsApi,
    ProfilesApi,
    AgentsApi,
    ImagesApi,
    ThreadsApi,
    MessagesApi,
    EventsApi,
    StreamsApi,
    QueueApi,
    WaitsApi,
    ToolsApi,
    ToolsetsApi,
    ConnectionsApi,
    RolesApi,
    HooksApi,
    MemoryApi,
    SharedMemoryApi,
    FeedsApi,
    SchedulesApi,
    SubscriptionsApi,
    WebhooksApi,
    OperationsApi,
    ApprovalsApi,
    AuthApi,
    IdentitiesApi,
    LimitsApi,
    UsageApi,
    ChartsApi,
    ActorsApi,
    NodesApi
  )
).annotateMerge(
  OpenApi.annotations({
    title: "Troupe",
    version: "v1",
    summary: "A workspace-scoped platform for running agents",
    description,
    license: { name: "Apache-2.0", identifier: "Apache-2.0" }
  })
) {}
