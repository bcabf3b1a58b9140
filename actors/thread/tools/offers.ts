/**
 * What one turn may call, by name: the tools of its catalogues and the built-in ones, shown at once or when revealed.
 */
import type { Effect } from "effect"
import type { ResolvedProfile } from "../../../src/agents/Directory.ts"
import type { CompiledRole } from "../../../src/roles/evaluate.ts"
import type { Tool } from "../../../src/tools/Tool.ts"
import type { Carry } from "../../../machines/thread/context.ts"
import type { Unreachable } from "../../Actor.ts"
import type { BuiltIn, Family } from "./builtIn.ts"
import { type Hidden, isRevealed, rolesOfSearch, searchName, toolSearch } from "./families/search.ts"

/** What a turn may call: a tool of a toolset, or one of the runtime itself. */
export type Offer = Tool | BuiltIn

export const isReadOnly = ({ annotations }: Offer) => annotations?.readOnlyHint === true

/** What is shown from the start comes first, and what a search may reveal last: prompts change at their end only. */
const offersOf = (
  tools: ReadonlyArray<Tool>,
  open: ReadonlyArray<BuiltIn>,
  { families, tools: found }: Hidden,
  search: BuiltIn
): ReadonlyArray<Offer> => {
  const hidden = [...families.flatMap(({ tools }) => tools), ...found]
  return [
    ...tools.filter(({ exposure }) => exposure === "always"),
    ...open,
    ...(hidden.length === 0 ? [] : [search]),
    ...hidden
  ]
}

export interface TurnOffers {
  readonly all: ReadonlyArray<Offer>
  readonly named: ReadonlyMap<string, Offer>
  readonly isShown: (tool: Offer, carry: Carry) => boolean
  /** The tool of that name, if the thread sees it by now. */
  readonly find: (name: string, carry: Carry) => Offer | undefined
  /** The roles that decide about a tool. */
  readonly rolesOf: (tool: Offer, roles: ReadonlyArray<CompiledRole>) => ReadonlyArray<CompiledRole>
}

export const makeOffers = (
  families: ReadonlyArray<Family>,
  profile: ResolvedProfile,
  tools: ReadonlyArray<Tool>,
  rolesNow: Effect.Effect<ReadonlyArray<CompiledRole>, Unreachable>
): TurnOffers => {
  const own = families.filter(({ name }) => profile.families?.includes(name))
  const isOpen = profile.familyExposure === "always"
  const open = isOpen ? own.flatMap(({ tools }) => tools) : []
  const hidden: Hidden = {
    families: isOpen ? [] : own,
    tools: tools.filter(({ exposure }) => exposure === "search")
  }
  const all = offersOf(tools, open, hidden, toolSearch(hidden, rolesNow))
  const named = new Map(all.map((tool) => [tool.name, tool]))

  const shown = new Set<Offer>(open)
  const isShown = (tool: Offer, { reveals }: Carry) => shown.has(tool) || isRevealed(tool, reveals)

  const find = (name: string, carry: Carry) => {
    const tool = named.get(name)
    return tool !== undefined && isShown(tool, carry) ? tool : undefined
  }

  return {
    all,
    named,
    isShown,
    find,
    rolesOf: ({ name }, roles) => (name === searchName ? rolesOfSearch(hidden, roles) : roles)
  }
}
