/**
 * Ends a request whose provider says nothing for too long, or wants it sent elsewhere.
 *
 * W1. Every byte counts, also pings and comments that carry no content: the watch is on the connection, not on the
 *     words.
 * W2. It begins with the request, so silence before the first byte counts as well.
 * W3. No redirect is followed: keys in headers of their own (`x-api-key`, `x-goog-api-key`) would go along to whatever
 *     host it names. The 3xx is the answer.
 */
export interface Watchdog {
  /** Aborts when the caller gives up or the provider is silent. */
  readonly signal: AbortSignal
  /** True once silence was what ended it. */
  readonly silent: () => boolean
  /** True once an answer has begun: what goes wrong after that has broken it. */
  readonly answered: () => boolean
  /** `fetch` that notices each byte. */
  readonly fetch: typeof globalThis.fetch
  /** Closes the connection, if it is still open, and ends the watch. */
  readonly end: () => void
}

export const makeWatchdog = (given: AbortSignal, idleTimeoutMs: number): Watchdog => {
  const controller = new AbortController()
  let silent = false
  let answered = false
  const timer = setTimeout(() => {
    silent = true
    controller.abort(new DOMException("the provider was silent", "AbortError"))
  }, idleTimeoutMs)
  const giveUp = () => {
    clearTimeout(timer)
    controller.abort(given.reason)
  }
  if (given.aborted) giveUp()
  else given.addEventListener("abort", giveUp, { once: true })

  const alive = () => {
    if (!controller.signal.aborted) timer.refresh()
  }

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, { ...init, redirect: "manual" })
    alive()
    answered = response.ok
    if (response.body === null) return response
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, out) {
          alive()
          out.enqueue(chunk)
        }
      })
    )
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }

  return {
    signal: controller.signal,
    silent: () => silent,
    answered: () => answered,
    fetch,
    end: () => {
      clearTimeout(timer)
      given.removeEventListener("abort", giveUp)
      controller.abort(new DOMException("the response is complete", "AbortError"))
    }
  }
}
