/** What waits for somebody's word, oldest need first; home. j and k go down and up, a allows, d denies, e edits. */
import { useCallback, useEffect, useRef, useState } from "react"
import { Failure } from "../parts/Failure.tsx"
import { OperationCard } from "./OperationCard.tsx"
import type { Wish } from "./asked.ts"
import { FirstMessage } from "./FirstMessage.tsx"
import { useInbox } from "./useInbox.ts"
import { WaitCard } from "./WaitCard.tsx"

const wishes: Readonly<Record<string, Wish>> = { a: "allow", d: "deny", e: "edit" }

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

export const Inbox = () => {
  const { failure, hasMore, isLoading, items, retry } = useInbox()
  const [chosen, setChosen] = useState<string>()
  const [wish, setWish] = useState<{ readonly id: string; readonly what: Wish }>()
  const list = useRef<HTMLUListElement>(null)
  const at = items.findIndex(({ id }) => id === chosen)

  const choose = useCallback(
    (place: number) => {
      const item = items[Math.max(0, Math.min(items.length - 1, place))]
      if (item === undefined) return
      setChosen(item.id)
      list.current?.querySelector<HTMLElement>(`[data-id="${item.id}"]`)?.focus()
    },
    [items]
  )

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === "j") choose(at + 1)
      else if (event.key === "k") choose(at < 0 ? 0 : at - 1)
      else {
        const what = wishes[event.key]
        const item = items[at]
        if (what === undefined || item === undefined) return
        setWish({ id: item.id, what })
      }
      event.preventDefault()
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [at, choose, items])

  return (
    <section>
      <h1>Inbox</h1>
      {failure === null ? null : <Failure failure={failure} retry={retry} />}
      {items.length === 0 ? (
        isLoading ? (
          <p className="quiet">Looking…</p>
        ) : failure === null ? (
          <FirstMessage />
        ) : null
      ) : (
        <>
          <p className="quiet">
            <kbd>j</kbd> <kbd>k</kbd> choose, <kbd>a</kbd> allow, <kbd>d</kbd> deny, <kbd>e</kbd> edit the input
          </p>
          <ul className="cards" ref={list}>
            {items.map((item) => {
              const asked = wish?.id === item.id ? wish.what : undefined
              const shared = { isChosen: item.id === chosen, wish: asked, onWished: () => setWish(undefined) }
              return (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: j and k move between cards
                <li key={item.id} data-id={item.id} tabIndex={0} onFocus={() => setChosen(item.id)}>
                  {item.kind === "wait" ? (
                    <WaitCard thread={item.thread} wait={item.wait} {...shared} />
                  ) : (
                    <OperationCard operation={item.operation} {...shared} />
                  )}
                </li>
              )
            })}
          </ul>
          {hasMore ? <p className="quiet">There are more: they come up as these are answered.</p> : null}
        </>
      )}
    </section>
  )
}
