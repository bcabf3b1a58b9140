/**
 * Milestones in logs at which a fold has come by lately: whoever reads the steps of an actor page by page, or follows
 * them, goes on from there and not from the beginning.
 *
 * L1. A log only grows, so that a milestone in it stays true. Milestones are bounded in number and in characters.
 */
import { LRUCache } from "lru-cache"
import type { Milestone } from "../machines/steps.ts"
import type { LogOf } from "../src/inspection/log.ts"

const mostMilestones = 256
const mostOfActor = 16
const mostHeld = 16 * 1024 * 1024
/** What a milestone takes beside the facts that it may hold. */
const least = 1024

export interface Milestones {
  /** The last of them up to a position. */
  readonly find: (of: LogOf, upTo: number) => Milestone | undefined
  readonly keep: (of: LogOf, milestone: Milestone) => void
}

export const makeMilestones = (): Milestones => {
  const milestones = new LRUCache<string, Milestone>({
    max: mostMilestones,
    maxSize: mostHeld,
    sizeCalculation: ({ held }) => held + least,
    dispose: (_, key) => {
      const [actor = "", pos] = key.split(" ")
      const left = (positions.get(actor) ?? []).filter((each) => each !== Number(pos))
      if (left.length === 0) positions.delete(actor)
      else positions.set(actor, left)
    }
  })
  /** By actor, where its milestones are. */
  const positions = new Map<string, ReadonlyArray<number>>()
  const actorOf = ({ id, workspace }: LogOf) => `${workspace}/${id}`

  return {
    find: (of, upTo) => {
      const actor = actorOf(of)
      const pos = (positions.get(actor) ?? []).reduce((best, each) => (each <= upTo && each > best ? each : best), -1)
      return pos < 0 ? undefined : milestones.get(`${actor} ${pos}`)
    },
    keep: (of, milestone) => {
      const actor = actorOf(of)
      const known = positions.get(actor) ?? []
      if (known.includes(milestone.pos)) return
      if (known.length === mostOfActor) milestones.delete(`${actor} ${known[0]}`)
      milestones.set(`${actor} ${milestone.pos}`, milestone)
      // One that is too large is not kept.
      if (milestones.has(`${actor} ${milestone.pos}`))
        positions.set(actor, [...(positions.get(actor) ?? []), milestone.pos])
    }
  }
}
