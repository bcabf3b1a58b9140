/**
 * What keys ask of the chosen card.
 *
 * K1. A key is heard by whoever listens for that card while it is pressed, or by nobody. Nothing keeps it: a card that
 *     is shown later does not hear it.
 */
import { createContext, useContext, useEffect, useEffectEvent, useState } from "react"

export type Wish = "allow" | "deny" | "edit"
type Hear = (wish: Wish) => void

export interface Keys {
  /** Tells whoever listens for a card. */
  readonly press: (id: string, wish: Wish) => void
  /** Returns how to stop. */
  readonly listen: (id: string, hear: Hear) => () => void
}

const makeKeys = (): Keys => {
  const hearing = new Map<string, Hear>()
  return {
    press: (id, wish) => hearing.get(id)?.(wish),
    listen: (id, hear) => {
      hearing.set(id, hear)
      return () => {
        if (hearing.get(id) === hear) hearing.delete(id)
      }
    }
  }
}

/** Of a list whose cards hear keys; elsewhere there is none. */
export const KeysContext = createContext<Keys | undefined>(undefined)

export const useOwnKeys = (): Keys => useState(makeKeys)[0]

/** Hears the keys of a card as long as the caller is shown. */
export const useKeys = (id: string, hear: Hear) => {
  const keys = useContext(KeysContext)
  const heard = useEffectEvent(hear)
  useEffect(() => keys?.listen(id, (wish) => heard(wish)), [keys, id])
}
