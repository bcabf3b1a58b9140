/**
 * The OpenAPI document, finished: what the generated one does not say by itself. The schemes and scope of each
 * operation, the operation wrapper as a second 2xx, the headers of answers, the words of refusals, whole numbers in
 * queries, samples; and its shapes as generators of clients read them.
 */
import { type CredentialKind, credentialsOf, type Rule } from "../access.ts"
import { curlOf } from "./curl.ts"
import { examples, inPath } from "./examples.ts"
import type { Facts } from "./facts.ts"
import { headers, taggedIn } from "./headers.ts"
import { inside, isJson, type Json, mapped, objectsOf, referredBy } from "./json.ts"
import { parametersOf } from "./parameters.ts"
import { plain } from "./plain.ts"
import { responsesOf, streamOf } from "./responses.ts"
import { addReferences, namedOnce, renamed, usedShapes, withDiscriminators } from "./shapes.ts"

const schemes = {
  APIKeyBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trp_…",
    description: "An API key of the workspace. `npm start` prints one, and keeps it in the file `.troupe/dev-key`."
  },
  AgentLeaseBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trl_…",
    description:
      "A lease that an agent's tool server gets with a call, where its toolset asks for it: good while the turn goes " +
      "on, for at most 15 minutes. It needs no scope, and reaches its own agent, its own thread and what its agent " +
      "has asked for."
  },
  DeliveryBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trd_…",
    description: "The `answerToken` of a hook's delivery: good for the answer to that delivery, and for nothing else."
  }
}

/** How they are called, beside the keys that every endpoint takes. */
const others: { readonly [kind in Exclude<CredentialKind, "api_key" | "user">]: string } = {
  trigger: "a trigger's key",
  lease: "an agent's lease",
  delivery: "the token of the delivery"
}

/** The scope, and who else is let in. */
const admission = ({ scopes }: Rule, kinds: ReadonlyArray<CredentialKind>) => {
  const named = kinds.flatMap((kind) => (kind === "api_key" || kind === "user" ? [] : [others[kind]]))
  const also = named.length === 0 ? "" : ` It also takes ${named.join(" and ")}.`
  return `Scope: ${scopes.map((scope) => `\`${scope}\``).join(" or ")}.${also}`
}

/** What an endpoint's access means for its operation. */
const withAccess = (operation: Json, rule: Rule | undefined): Json => {
  if (rule === undefined) return operation
  const { delivery, lease, scopes } = rule
  const kinds = credentialsOf(rule)
  return {
    ...operation,
    description: [operation.description, admission(rule, kinds)].filter((part) => part !== undefined).join("\n\n"),
    security: [
      { APIKeyBearer: [] },
      ...(lease ? [{ AgentLeaseBearer: [] }] : []),
      ...(delivery ? [{ DeliveryBearer: [] }] : [])
    ],
    "x-required-scope": scopes.join(" or "),
    "x-credentials": kinds
  }
}

/** A body without required fields may be left out: it counts as an empty object. */
const isNeeded = (requestBody: Json, schemas: Json): boolean => {
  const schema = inside(requestBody, "content", "application/json", "schema")
  const name = referredBy(schema)
  const { minProperties, required, type } = name === undefined ? schema : inside(schemas, name)
  return type !== "object" || Number(minProperties ?? 0) > 0 || (Array.isArray(required) && required.length > 0)
}

const bodyOf = (requestBody: Json, schemas: Json): Json => {
  const made = inside(plain(requestBody, false))
  const content = inside(made, "content")
  const media = inside(content, "application/json")
  const example = examples[referredBy(media.schema) ?? ""]
  return {
    ...made,
    content: {
      ...content,
      "application/json": { ...media, ...(example !== undefined && { examples: { default: { value: example } } }) }
    },
    required: isNeeded(requestBody, schemas)
  }
}

/** What a client would type, as tools that show OpenAPI take it. */
const sampleOf = (method: string, path: string, operation: Json) => {
  const body = inside(operation, "requestBody", "content", "application/json", "examples").default
  const parameters = objectsOf(operation.parameters)
  const prefixOf = (name: string) =>
    /^\^(?:\(\?:)?([a-z]+_)/.exec(
      String(
        inside(
          parameters.find((parameter) => parameter.in === "path" && parameter.name === name),
          "schema"
        ).pattern
      )
    )?.[1]
  return [
    {
      lang: "shell",
      label: "curl",
      source: curlOf({
        method,
        path,
        known: (name) => inPath(method, name),
        prefixOf,
        streams: streamOf(inside(operation, "responses", "200")) !== undefined,
        ...(isJson(body) && { body: body.value })
      })
    }
  ]
}

const nothingKnown: Facts = { access: undefined, refusals: new Map(), shownAs: new Map() }

/** The whole document, once it has been generated. `facts` are those of its operations, by operationId. */
export const finish = (document: Json, facts: ReadonlyMap<unknown, Facts>): Json => {
  const generated = inside(document, "components", "schemas")
  const sent = new Set<string>()
  const answered = new Set<string>()
  const isTagged = taggedIn(inside(document, "paths"))

  const finished = (method: string, path: string, operation: Json): Json => {
    const known = facts.get(operation.operationId) ?? nothingKnown
    const { requestBody } = operation
    const described = {
      parameters: parametersOf(method, plain(operation.parameters, true), known),
      responses: plain(responsesOf(method, path, inside(operation, "responses"), known, isTagged), true)
    }
    addReferences(requestBody, sent, generated)
    addReferences(described, answered, generated)
    const made = {
      ...withAccess(operation, known.access),
      ...described,
      ...(isJson(requestBody) && { requestBody: bodyOf(requestBody, generated) })
    }
    return { ...made, "x-codeSamples": sampleOf(method, path, made) }
  }
  const operations = mapped(inside(document, "paths"), (methods, path) =>
    mapped(inside(methods), (operation, method) => finished(method, path, inside(operation)))
  )

  const { kept, twice } = usedShapes(generated, sent, answered)
  const inputs = mapped(operations, (methods) =>
    mapped(inside(methods), (found) => {
      const operation = inside(found)
      return isJson(operation.requestBody)
        ? { ...operation, requestBody: renamed(operation.requestBody, twice) }
        : operation
    })
  )
  const { paths, schemas } = namedOnce(inputs, kept)
  return {
    ...document,
    paths,
    components: {
      ...inside(document, "components"),
      schemas: withDiscriminators(schemas),
      headers,
      securitySchemes: schemes
    },
    security: [{ APIKeyBearer: [] }],
    servers: [{ url: "/" }]
  }
}
