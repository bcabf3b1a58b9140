/** The prefixes of an actor's id and of its parent's, by kind: what the database's UUIDs do not say. */
import type { Noun } from "../domain/ids.ts"
import type { ActorKind } from "./Journal.ts"

export const nouns: Record<ActorKind, { readonly id: Noun; readonly parent: Noun | null }> = {
  thread: { id: "thread", parent: "agent" },
  identity: { id: "identity", parent: null }
}

export const isActorKind = (text: string): text is ActorKind => Object.hasOwn(nouns, text)
