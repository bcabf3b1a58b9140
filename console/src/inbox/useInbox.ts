/** What waits for a person or a client, and requests that wait for approval. */
import { useQuery } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { useSession } from "../session/Session.tsx"

export type Thread = components["schemas"]["ThreadSummary"]
export type Wait = components["schemas"]["PendingWait"]
export type Operation = components["schemas"]["Operation"]

export type Item =
  | { readonly kind: "wait"; readonly id: string; readonly thread: Thread; readonly wait: Wait }
  | { readonly kind: "operation"; readonly id: string; readonly operation: Operation }

const limit = 200

export const useInbox = () => {
  const { auth, troupe } = useSession()
  const mayRead = auth.scopes.includes("read")
  const waits = useQuery({
    queryKey: ["inbox", "waits"],
    enabled: mayRead,
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/threads", { params: { query: { state: "waiting", limit } }, signal }))
  })
  const operations = useQuery({
    queryKey: ["inbox", "operations"],
    enabled: mayRead,
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/operations", { params: { query: { state: "pending", limit } }, signal }))
  })
  const items: ReadonlyArray<Item> = [
    ...(waits.data?.threads ?? []).flatMap((thread) =>
      thread.pendingWaits
        .filter(({ target }) => target === "person" || target === "client")
        .map((wait) => ({ kind: "wait" as const, id: wait.id, thread, wait }))
    ),
    ...(operations.data?.operations ?? []).map((operation) => ({
      kind: "operation" as const,
      id: operation.id,
      operation
    }))
  ]
  return {
    items,
    count: items.length,
    isLoading: waits.isLoading || operations.isLoading,
    failure: waits.error ?? operations.error,
    retry: () => {
      void waits.refetch()
      void operations.refetch()
    },
    hasMore: waits.data?.nextCursor !== undefined || operations.data?.nextCursor !== undefined
  }
}
