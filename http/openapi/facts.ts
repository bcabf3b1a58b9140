/** What the contract says of an operation and the generated document does not: read from its own values. */
import { Context, type Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { Access, type Rule } from "../access.ts"
import type { ErrorWord } from "../errors.ts"
import type { WholeNumber } from "../parameters.ts"

export interface Facts {
  readonly access: Rule | undefined
  /** By status: the words that the endpoint or its middleware refuses with. */
  readonly refusals: ReadonlyMap<string, ReadonlyArray<ErrorWord>>
  /** By name: parameters that clients are shown in another way than they are read. */
  readonly shownAs: ReadonlyMap<string, WholeNumber>
}

/** Of an optional parameter it stands at the member that is not `undefined`. */
const shownAs = (ast: SchemaAST.AST): WholeNumber | undefined =>
  ast._tag === "Union" ? ast.types.map(shownAs).find((found) => found !== undefined) : SchemaAST.resolve(ast)?.shownAs

const parametersOf = (schema: Schema.Constraint | undefined) =>
  schema?.ast._tag === "Objects"
    ? schema.ast.propertySignatures.flatMap(({ name, type }): Array<[string, WholeNumber]> => {
        const found = shownAs(type)
        return found === undefined ? [] : [[String(name), found]]
      })
    : []

const wordsOf = (schemas: ReadonlyArray<Schema.Constraint>): ReadonlyArray<ErrorWord> => [
  ...new Set(schemas.flatMap((schema) => SchemaAST.resolve(schema.ast)?.refusals ?? []))
]

/** By operationId. */
export const factsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<unknown, Facts> => {
  const facts = new Map<unknown, Facts>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, mergedAnnotations }) => {
      const found = Context.getOption(mergedAnnotations, Access)
      facts.set(`${group.identifier}.${endpoint.identifier}`, {
        access: found._tag === "Some" ? found.value : undefined,
        refusals: new Map([...errors].map(([status, schemas]) => [String(status), wordsOf(schemas)])),
        shownAs: new Map([...parametersOf(endpoint.query), ...parametersOf(endpoint.headers)])
      })
    }
  })
  return facts
}
