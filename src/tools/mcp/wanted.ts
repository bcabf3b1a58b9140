/**
 * Servers may ask things of their client, while they work on calls, that Troupe does not give: they are refused in
 * words, which a call that fails for it repeats.
 */
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { failureWith, type McpFailure } from "./McpFailure.ts"
import { refusesRequest } from "./unsupported.ts"

const textOf = ({ content }: CallToolResult) =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/** `onWanted` hears the words of a request for which a call may have failed. */
export const makeWanted = (onWanted: (words: string) => void) => {
  // A request of the server does not say which call it is for: every call that runs may be it.
  const running = new Set<Set<string>>()

  return {
    /** Refuses a request of the server. */
    refuse: async ({ method }: { readonly method: string }): Promise<never> => {
      const words = refusesRequest(method)
      if (words !== undefined) for (const wanted of running) wanted.add(words)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, words ?? "Method not found")
    },

    /** A call, which says what was wanted of it where it fails and its server does not say so. */
    during: (call: Effect.Effect<CallToolResult, McpFailure>): Effect.Effect<CallToolResult, McpFailure> =>
      Effect.suspend(() => {
        const wanted = new Set<string>()
        running.add(wanted)
        const unsaid = (text: string) => {
          for (const words of wanted) onWanted(words)
          return [...wanted].filter((words) => !text.includes(words))
        }
        return call.pipe(
          Effect.map(
            (result): CallToolResult =>
              result.isError !== true
                ? result
                : {
                    ...result,
                    content: [
                      ...result.content,
                      ...unsaid(textOf(result)).map((text) => ({ type: "text" as const, text }))
                    ]
                  }
          ),
          Effect.mapError((failure) =>
            failureWith(failure, { message: [failure.message, ...unsaid(failure.message)].join("\n") })
          ),
          Effect.ensuring(Effect.sync(() => running.delete(wanted)))
        )
      })
  }
}
