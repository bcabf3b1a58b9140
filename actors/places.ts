/**
 * Places in logs at which a fold has come by lately: whoever reads the steps of an actor page by page, or follows them,
 * goes on from there and not from the beginning.
 *
 * P1. A log only grows, so that a place in it stays true. What is kept is bounded in number and in characters.
 */
import { LRUCache } from "lru-cache"
import type { Place } from "../machines/steps.ts"
import type { LogOf } from "../src/inspection/log.ts"

const mostPlaces = 256
const mostOfActor = 16
const mostHeld = 16 * 1024 * 1024
/** What a place takes beside the facts that it may hold. */
const least = 1024

export interface Places {
  /** The last of them up to a position. */
  readonly find: (of: LogOf, upTo: number) => Place | undefined
  readonly keep: (of: LogOf, place: Place) => void
}

export const makePlaces = (): Places => {
  const places = new LRUCache<string, Place>({
    max: mostPlaces,
    maxSize: mostHeld,
    sizeCalculation: ({ held }) => held + least,
    dispose: (_, key) => {
      const [actor = "", pos] = key.split(" ")
      const left = (positions.get(actor) ?? []).filter((each) => each !== Number(pos))
      if (left.length === 0) positions.delete(actor)
      else positions.set(actor, left)
    }
  })
  /** By actor, where its places are. */
  const positions = new Map<string, ReadonlyArray<number>>()
  const actorOf = ({ id, workspace }: LogOf) => `${workspace}/${id}`

  return {
    find: (of, upTo) => {
      const actor = actorOf(of)
      const pos = (positions.get(actor) ?? []).reduce((best, each) => (each <= upTo && each > best ? each : best), -1)
      return pos < 0 ? undefined : places.get(`${actor} ${pos}`)
    },
    keep: (of, place) => {
      const actor = actorOf(of)
      const known = positions.get(actor) ?? []
      if (known.includes(place.pos)) return
      if (known.length === mostOfActor) places.delete(`${actor} ${known[0]}`)
      places.set(`${actor} ${place.pos}`, place)
      // One that is too large is not kept.
      if (places.has(`${actor} ${place.pos}`)) positions.set(actor, [...(positions.get(actor) ?? []), place.pos])
    }
  }
}
