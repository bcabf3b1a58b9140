/** A client as a page would have it: made of the contract, and bundled for a browser by contractAlone.test.ts. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../../http/Api.ts"
import { isRefused } from "../../http/errors.ts"

export { utf8Bytes } from "../../src/domain/text.ts"

export const clientOf = async (baseUrl: string, token: string) => {
  const runtime = ManagedRuntime.make(Layer.fresh(FetchHttpClient.layer))
  const { agents, events, profiles, threads } = await runtime.runPromise(
    HttpApiClient.make(Api, {
      baseUrl,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token))
    })
  )
  return {
    /** A thread of an agent of its own, and what its log holds once something does. */
    converse: (text: string) =>
      runtime.runPromise(
        Effect.gen(function* () {
          const { profile } = yield* profiles.create({ payload: { name: "Brief", models: ["troupe/scripted"] } })
          const { agent } = yield* agents.create({ payload: { name: "Guide", profileId: profile.id } })
          const { thread } = yield* threads.create({
            payload: { agentId: agent.id, message: { content: [{ type: "text", text }] } }
          })
          const page = yield* events.list({
            params: { threadId: thread.id },
            query: { afterSeq: 0, waitSeconds: 5 }
          })
          const found = yield* threads.get({ params: { threadId: thread.id } })
          return { agentId: found.thread.agentId, madeAgent: agent.id, first: page.events[0]?.type }
        })
      ),
    /** The word and status that a thread is refused with. */
    refusalOf: (threadId: string) =>
      runtime.runPromise(
        Effect.match(threads.get({ params: { threadId } }), {
          onSuccess: () => undefined,
          onFailure: (failure) => (isRefused(failure) ? { error: failure.error, status: failure.status } : failure)
        })
      ),
    close: () => runtime.dispose()
  }
}
