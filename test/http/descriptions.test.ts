/**
 * The reference explains itself: every operation, parameter, property and header says what it means, in words that are
 * about it.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { demoAgent, demoProfile } from "../../src/domain/demo.ts"
import { readOnly } from "../../src/roles/role.ts"
import { document, headersOf, isIn, objectAt, operations, schemas, titleOf } from "./document.ts"
import { faults, isObject, listAt } from "./jsonSchema.ts"

interface Said {
  readonly place: string
  readonly description: unknown
}

/** Of whole objects. A rule speaks of some properties of one (src/domain/jsonSchema.ts): there they are only named. */
const propertiesOf = (value: unknown, place: string): ReadonlyArray<Said> => {
  if (Array.isArray(value)) return value.flatMap((item, index) => propertiesOf(item, `${place}[${index}]`))
  if (!isObject(value)) return []
  const own = Object.entries(value.type === "object" ? objectAt(value, "properties") : {}).map(
    ([name, property]): Said => ({ place: `${place}.${name}`, description: objectAt(property).description })
  )
  const within = Object.entries(value).flatMap(([keyword, item]) =>
    keyword === "properties"
      ? Object.entries(objectAt(item)).flatMap(([name, property]) => propertiesOf(property, `${place}.${name}`))
      : keyword === "examples"
        ? []
        : propertiesOf(item, `${place}/${keyword}`)
  )
  return [...own, ...within]
}

const properties = [
  ...Object.entries(objectAt(document, "components", "schemas")).flatMap(([name, schema]) =>
    propertiesOf(schema, name)
  ),
  ...Object.entries(objectAt(document, "paths")).flatMap(([path, methods]) => propertiesOf(methods, path))
]
const parameters = operations.flatMap((operation) =>
  operation.parameters.map(
    (parameter): Said => ({
      place: `${titleOf(operation)} ${parameter.name}`,
      description: parameter.description
    })
  )
)
const headers = operations.flatMap((operation) =>
  Object.entries(operation.responses).flatMap(([status, response]) =>
    headersOf(response).map(
      ([name, { description }]): Said => ({ place: `${titleOf(operation)} ${status} ${name}`, description })
    )
  )
)
const answers = operations.flatMap((operation) =>
  Object.entries(operation.responses).map(
    ([status, response]): Said => ({
      place: `${titleOf(operation)} ${status}`,
      description: objectAt(response).description
    })
  )
)
/** But for the scope, which every operation has. */
const described = operations.map((operation): Said => {
  const { description } = objectAt(document, "paths", operation.path, operation.method.toLowerCase())
  return { place: titleOf(operation), description: String(description).replace(/(?:^|\n\n)Scope: .*$/, "") }
})

/** What the schema's type says already, and what a generator writes when nobody has said anything. */
const empty =
  /^(?:an? )?(?:(?:string|number|integer|boolean|array|object|value|finite)s? ?(?:of )?)+\.?$|^\w+(?:Answer|Page|Detail|List|Record)$/i

/** Bounds alone are no meaning. */
const bounds = /^(?:At (?:most|least) [\d,]+ [^.]*\.\s*)+$/

const silent = (said: ReadonlyArray<Said>) =>
  said
    .filter(
      ({ description }) =>
        typeof description !== "string" ||
        description.trim().length < 8 ||
        empty.test(description) ||
        bounds.test(description)
    )
    .map(({ place, description }) => `${place}: ${description}`)

describe("what a client reads of the interface", () => {
  it.each<[string, ReadonlyArray<Said>]>([
    ["property", properties],
    ["parameter", parameters],
    ["header", headers],
    ["operation", described],
    ["answer", answers]
  ])("says of every %s what it means", (_, said) => {
    assert.isAbove(said.length, 40)
    assert.deepStrictEqual(silent(said), [])
  })

  it("knows empty words from a meaning", () => {
    const said = (description: unknown) => silent([{ place: "a", description }]).length === 1
    for (const nothing of [
      undefined,
      "",
      "a string",
      "Integer numbers.",
      "An array of strings",
      "At most 64 bytes of UTF-8.",
      "AgentAnswer"
    ])
      assert.isTrue(said(nothing), String(nothing))
    assert.isFalse(said("What people call the agent. At most 64 bytes of UTF-8."))
  })

  it("says nothing twice in one breath", () => {
    const twice = [...properties, ...parameters].filter(({ description }) => {
      const sentences = String(description).split(/(?<=\.) /)
      return new Set(sentences).size < sentences.length
    })
    assert.deepStrictEqual(twice, [])
  })
})

const tags = listAt(objectAt(document), "tags")
  .filter(isObject)
  .map((tag) => String(tag.name))

describe("the groups", () => {
  it("stand in the order of work", () => {
    const order = ["profiles", "agents", "threads", "messages", "events", "waits"]
    assert.deepStrictEqual(
      tags.filter((tag) => order.includes(tag)),
      order
    )
    assert.isBelow(tags.indexOf("waits"), tags.indexOf("auth"))
  })

  it("are told from the shapes by what the reference calls them, and say in words for people what they are", () => {
    const found = listAt(objectAt(document), "tags").filter(isObject)
    const shown = found.map((tag) => String(tag["x-displayName"] ?? tag.name).toLowerCase())
    assert.deepStrictEqual([new Set(shown).size, shown.includes("models")], [tags.length, false])
    for (const { description } of found) assert.match(String(description), /^[A-Z].*\.$/)
  })

  it("come with paths in the same order, so that lists of operations follow it", () => {
    const seen = operations.flatMap(({ path, method }) =>
      listAt(objectAt(document, "paths", path, method.toLowerCase()), "tags").map(String)
    )
    assert.deepStrictEqual([...new Set(seen)], tags)
  })
})

const samples = operations.flatMap((operation) => [
  ...operation.parameters.map((parameter): readonly [string, unknown] => [
    `${titleOf(operation)} ${parameter.name}`,
    [parameter.example, parameter.examples]
  ]),
  [titleOf(operation), operation.example] as const
])

describe("the samples", () => {
  it("hold nothing that stands in the way of sending them again", () => {
    const headers = operations.flatMap((operation) => operation.parameters.filter(isIn("header")))
    const named = headers.filter((header) => ["Idempotency-Key", "If-Match"].includes(String(header.name)))
    assert.isAbove(named.length, 20)
    for (const header of named) assert.isUndefined(header.example ?? header.examples)
  })

  it("name only ids that a development server has from its first start", () => {
    const there = new Set([demoAgent, demoProfile, readOnly.id])
    // The call that a hook is tried on is made up: it need not exist.
    const madeUp = /^call_/
    const ids = samples.flatMap(([place, sample]) =>
      [...JSON.stringify(sample ?? null).matchAll(/"([a-z]+_[0-7][0-9a-z]{25})"/g)].map(([, id]) => ({
        place,
        id: id ?? ""
      }))
    )
    assert.isAbove(ids.length, 5)
    assert.deepStrictEqual(
      ids.filter(({ id }) => !there.has(id) && !madeUp.test(id)),
      []
    )
  })

  it("are lines for a shell that send what is needed, and no parameter that may be left out", () => {
    for (const { method, path, example, names } of operations) {
      const [{ source } = { source: "" }] = listAt(
        objectAt(document, "paths", path, method.toLowerCase()),
        "x-codeSamples"
      ).filter(isObject)
      const [, url] = /"\$url([^"]*)"/.exec(String(source)) ?? []
      assert.match(
        url ?? "",
        new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?:\\w+|\\${$1:\\?set it to an id: [a-z]+_…})")}$`),
        String(source)
      )
      for (const name of names) assert.notInclude(String(source), `/{${name}}`)
      assert.include(String(source), `-H "Authorization: Bearer $key"`)
      if (example !== undefined)
        assert.deepStrictEqual(JSON.parse(/-d '([^']*)'$/.exec(String(source))?.[1] ?? "null"), example)
    }
  })

  it("send nothing while an id that only the client knows is not set: the shell says which, and of what form", () => {
    const { source } = objectAt(
      listAt(objectAt(document, "paths", "/v1/threads/{threadId}/waits/{waitId}", "get"), "x-codeSamples")[0]
    )
    const run = (sets: string) =>
      spawnSync("bash", ["-c", `curl() { echo "sent $*"; }; url=http://here key=k ${sets}\n${String(source)}`], {
        encoding: "utf8",
        env: {}
      })
    const halfway = run("threadId=thr_1")
    assert.deepStrictEqual([halfway.stdout, halfway.status === 0], ["", false])
    assert.include(halfway.stderr, "waitId: set it to an id: wait_…")
    assert.include(
      run("threadId=thr_1 waitId=wait_1").stdout,
      "sent -sS http://here/v1/threads/thr_1/waits/wait_1 -H Authorization: Bearer k"
    )
  })

  it("end and change nothing that the next one needs", () => {
    const named = operations
      .filter(({ method }) => method === "DELETE" || method === "PATCH")
      .flatMap(({ parameters }) =>
        parameters.filter((parameter) => isIn("path")(parameter) && parameter.example !== undefined)
      )
    assert.deepStrictEqual(named, [])
  })

  it("show what a stream sends: frames in their order, each as the schema has it", () => {
    const streams = operations.flatMap(({ path, responses }) => {
      const media = objectAt(responses, "200", "content", "text/event-stream")
      return "schema" in media
        ? [{ path, media, frames: Object.values(objectAt(media, "examples")).map((frame) => objectAt(frame).value) }]
        : []
    })
    assert.lengthOf(streams, 3)
    for (const { frames, media, path } of streams) {
      assert.deepStrictEqual(
        frames.flatMap((frame) => faults(objectAt(media, "schema"), frame, schemas)),
        [],
        path
      )
      assert.deepStrictEqual(
        [frames.map((frame) => objectAt(frame).event)[0], frames.length > 5],
        ["ready", true],
        path
      )
      const { description } = objectAt(document, "paths", path, "get")
      for (const frame of frames)
        assert.include(String(description), `event: ${objectAt(frame).event}\ndata: ${objectAt(frame).data}\n`)
    }
  })
})
