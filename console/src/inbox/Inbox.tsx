/** What waits for somebody's word, oldest need first; home. j and k go down and up, a allows, d denies, e edits. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { Boundary } from "../parts/Boundary.tsx"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { FirstMessage } from "./FirstMessage.tsx"
import type { Group, Item, Row } from "./items.ts"
import { KeysContext, useOwnKeys, type Wish } from "./keys.ts"
import { OperationCard } from "./OperationCard.tsx"
import { WayTo } from "./ThreadLink.tsx"
import { useInbox } from "./useInbox.ts"
import { WaitCard } from "./WaitCard.tsx"
import "./inbox.css"

const wishes: Readonly<Record<string, Wish>> = { a: "allow", d: "deny", e: "edit" }

/** Cards of one look; the others come up as these are answered. */
const mostCards = 100

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Answers are given where the cards are: a key pressed in a menu or in the heading is none. */
const isAmongCards = (target: EventTarget | null) =>
  target === document.body || (target instanceof Element && target.closest("main") !== null)

/** Which card is chosen, by keys and by the focus. Where the chosen one is answered, the keys go on from its place. */
const useChosen = (items: ReadonlyArray<Item>, press: (id: string, wish: Wish) => void) => {
  const [chosen, setChosen] = useState<string>()
  const list = useRef<HTMLDivElement>(null)
  const found = items.findIndex(({ id }) => id === chosen)
  const lastAt = useRef(-1)
  useEffect(() => {
    if (found >= 0) lastAt.current = found
  }, [found])

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
    const hear = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const item = items[found]
      const wish = wishes[event.key]
      if (event.key === "j") choose(found < 0 ? Math.max(0, lastAt.current) : found + 1)
      else if (event.key === "k") choose(found < 0 ? lastAt.current - 1 : found - 1)
      else if (wish !== undefined && item !== undefined && isAmongCards(event.target) && !event.repeat)
        press(item.id, wish)
      else return
      event.preventDefault()
    }
    addEventListener("keydown", hear)
    return () => removeEventListener("keydown", hear)
  }, [found, choose, items, press])

  return { chosen, list, setChosen }
}

/** The first groups that have room, the last of them perhaps in part. */
const firstOf = (groups: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  let room = mostCards
  return groups.flatMap((group) => {
    const rows = group.rows.slice(0, room)
    room -= rows.length
    return rows.length === 0 ? [] : [{ ...group, rows }]
  })
}

const Cards = ({ groups, isMore }: { readonly groups: ReadonlyArray<Group>; readonly isMore: string }) => {
  const keys = useOwnKeys()
  const items = useMemo(() => groups.flatMap(({ rows }) => rows.map(({ item }) => item)), [groups])
  const { chosen, list, setChosen } = useChosen(items, keys.press)
  const cardOf = ({ depth, item }: Row) => (
    <li
      key={item.id}
      data-id={item.id}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: j and k move between cards
      tabIndex={0}
      style={{ marginInlineStart: `${depth}rem` }}
      onFocus={() => setChosen(item.id)}
    >
      {item.kind === "wait" ? (
        <Boundary what={item.id} value={item.wait}>
          <WaitCard thread={item.thread} wait={item.wait} isChosen={item.id === chosen} />
        </Boundary>
      ) : (
        <Boundary what={item.id} value={item.operation}>
          <OperationCard operation={item.operation} isChosen={item.id === chosen} />
        </Boundary>
      )}
    </li>
  )
  return (
    <KeysContext value={keys}>
      <p className="quiet">
        <kbd>j</kbd> <kbd>k</kbd> choose, <kbd>a</kbd> allow, <kbd>d</kbd> deny, <kbd>e</kbd> edit the input
      </p>
      <div className="groups" ref={list}>
        {groups.map(({ hasOnlyAsked, id, rows }) => (
          <div key={id} className="group">
            {hasOnlyAsked ? (
              <p>
                What <WayTo threadId={id} /> has asked for:
              </p>
            ) : null}
            <ul className="cards">{rows.map(cardOf)}</ul>
          </div>
        ))}
      </div>
      {isMore === "" ? null : <p className="quiet">{isMore}</p>}
    </KeysContext>
  )
}

export const Inbox = () => {
  const { count, failure, groups, isLoading, isWhole, retry } = useInbox()
  const shown = useMemo(() => firstOf(groups), [groups])
  const isMore = !isWhole
    ? "More wait than are read at once: the oldest of them come up as these are answered."
    : count > mostCards
      ? `${count - mostCards} more come up as these are answered.`
      : ""
  return (
    <section>
      <h1>Inbox</h1>
      <p>
        <Copy label="copy as curl" text={() => curlOf("GET", "/v1/threads?state=waiting")} />
      </p>
      {failure === null ? null : <Failure failure={failure} retry={retry} />}
      {count > 0 ? (
        <Cards groups={shown} isMore={isMore} />
      ) : isLoading ? (
        <p className="quiet">Looking…</p>
      ) : failure === null ? (
        <FirstMessage />
      ) : null}
    </section>
  )
}
