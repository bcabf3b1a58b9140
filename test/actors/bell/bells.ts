/** Nodes that have bells beside threads and identities. */
import { Effect } from "effect"
import { makeRegistry, type RegistryOptions } from "../../../actors/Registry.ts"
import type { World } from "../World.ts"
import { bellKind } from "./kind.ts"

const registryOf = (options: RegistryOptions) =>
  makeRegistry(
    bellKind(() => {}),
    options
  )

/** Gives bells to every node that starts from now on: the registries that are made, in the order of their nodes. */
export const addBells = (world: World) => {
  const made: Array<Effect.Success<ReturnType<typeof registryOf>>> = []
  world.kinds.push((options) => Effect.map(registryOf(options), (registry) => void made.push(registry)))
  return made
}
