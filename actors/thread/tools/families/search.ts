/**
 * `tool_search`: finds what is hidden, the families of built-in tools and the toolsets that are exposed to searches
 * only, and reveals it: for the rest of the thread what was found may be called, as far as roles allow it.
 *
 * K1. Tools that roles could never allow are not found.
 * K2. It needs no grant of its own: it is there wherever it could find something. A denial that selects it takes it
 *     away.
 * K3. It names all that it has found, and reveals what was hidden until then: at most 16 families and 10 tools at once.
 *     What a thread may have revealed in all is the machine's to hold (machines/thread/calls.ts).
 */
import { Effect, Schema } from "effect"
import type { ToolReveal } from "../../../../src/domain/event.ts"
import { limits } from "../../../../src/domain/limits.ts"
import { nonBlank, utf8Bytes } from "../../../../src/domain/text.ts"
import { type CompiledRole, compileRole, mayEver } from "../../../../src/roles/evaluate.ts"
import { ranked } from "../../../../src/tools/ranking.ts"
import type { Tool } from "../../../../src/tools/Tool.ts"
import type { Revealed } from "../../../../machines/thread/context.ts"
import type { Unreachable } from "../../../Actor.ts"
import { type BuiltIn, builtIn, type Family } from "../builtIn.ts"

/** What a profile has that is hidden. */
export interface Hidden {
  readonly families: ReadonlyArray<Family>
  readonly tools: ReadonlyArray<Tool>
}

export const searchName = "tool_search"

const usual = 5
const descriptionChars = 300

/** K2. Beside a turn's own roles: theirs deny it still, or want it approved. */
const searching = compileRole({ id: searchName, allow: [{ tools: searchName }], deny: [] })

const ever =
  (roles: ReadonlyArray<CompiledRole>) =>
  ({ annotations, name }: Pick<Tool, "annotations" | "name">) =>
    mayEver(roles, { name, readOnly: annotations?.readOnlyHint === true })

/** What a turn's roles are for a search (K1, K2). */
export const rolesOfSearch = (
  { families, tools }: Hidden,
  roles: ReadonlyArray<CompiledRole>
): ReadonlyArray<CompiledRole> =>
  families.some(({ tools }) => tools.some(ever(roles))) || tools.some(ever(roles)) ? [...roles, searching] : roles

const localName = ({ name, namespace }: Tool) => name.slice(namespace.length + 1)

export const isRevealed = (offer: Tool | BuiltIn, reveals: Revealed | undefined): boolean => {
  if (offer.kind !== "built-in")
    return offer.exposure === "always" || reveals?.tools.includes(`${offer.toolsetId}/${localName(offer)}`) === true
  return offer.name === searchName || reveals?.families.some((family) => offer.name.startsWith(`${family}.`)) === true
}

const shortened = (text: string) => (text.length <= descriptionChars ? text : `${text.slice(0, descriptionChars)}…`)
const brief = ({ description, name }: { readonly name: string; readonly description?: string }) => ({
  name,
  ...(description === undefined ? {} : { description: shortened(description) })
})

/** Definitions as far as there is room for them: the log need not hold catalogues. */
const definitions = (tools: ReadonlyArray<Tool>): NonNullable<ToolReveal["tools"]> => {
  let bytes = 0
  return tools.map((tool) => {
    const { description, inputSchema: schema, name, namespace, toolsetId } = tool
    const def = { name, schema, ...(description === undefined ? {} : { description }) }
    bytes += utf8Bytes(JSON.stringify(def))
    return { toolsetId, namespace, name: localName(tool), ...(bytes > limits.toolOutputBytes ? {} : { def }) }
  })
}

const names = (found: ReadonlyArray<string>) => (found.length === 0 ? "none" : found.join(", "))

export const toolSearch = (hidden: Hidden, roles: Effect.Effect<ReadonlyArray<CompiledRole>, Unreachable>): BuiltIn =>
  builtIn({
    name: searchName,
    description:
      "Finds tools that are there but not shown yet, by words in their names and descriptions, and makes them " +
      "callable from your next " +
      "response on. Search before you say that something cannot be done. " +
      `Families: ${names(hidden.families.map(({ name }) => name))}. ` +
      `Toolsets: ${names([...new Set(hidden.tools.map(({ namespace }) => namespace))])}.`,
    input: Schema.Struct({
      query: Schema.String.check(nonBlank, Schema.isMaxLength(limits.searchChars)).annotate({
        description: "Words for what you want to do, or the name of a tool, a toolset or a family."
      }),
      limit: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.revealedTools })).annotate({
          description: `How many tools of toolsets to find; ${usual} when left out. Families come whole.`
        })
      )
    }),
    readOnly: true,
    run: ({ carry: { reveals } }, { limit = usual, query }) =>
      Effect.map(roles, (held) => {
        const may = ever(held)
        const families = ranked(
          query,
          hidden.families.flatMap(({ description, name, tools }) => {
            const allowed = tools.filter(may)
            const words = [description, ...allowed.map((tool) => tool.name)].join(" ")
            return allowed.length === 0
              ? []
              : [{ name, description: words, family: { name, description }, tools: allowed }]
          })
        ).slice(0, limits.revealedFamilies)
        const all = ranked(query, hidden.tools.filter(may))
        const tools = all.slice(0, limit)
        const newFamilies = families.flatMap(({ family: { name } }) =>
          reveals?.families.includes(name) === true ? [] : [name]
        )
        const newTools = tools.filter((tool) => !isRevealed(tool, reveals))
        return {
          output: {
            families: families.map(({ family, tools }) => ({ ...family, tools: tools.map(brief) })),
            tools: tools.map(brief),
            ...(all.length > limit ? { more: all.length - limit } : {})
          },
          ...(newFamilies.length + newTools.length === 0
            ? {}
            : {
                reveal: {
                  ...(newFamilies.length === 0 ? {} : { families: newFamilies }),
                  ...(newTools.length === 0 ? {} : { tools: definitions(newTools) })
                }
              })
        }
      })
  })
