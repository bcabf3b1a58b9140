/**
 * What agents, profiles, roles, toolsets and connections have in common as resources over HTTP: how they are made once,
 * read, listed, changed under an ETag and taken away, and that they are there for their own workspace alone.
 */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { type Client, sharedServer } from "../setup/server.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "../http/refusals.ts"

interface Resource {
  /** As in its path and its lists. */
  readonly many: string
  /** As in its answers. */
  readonly one: string
  readonly prefix: string
  /** Valid fields; differs by the name. */
  readonly fields: (name: string, client: Client) => Promise<object> | object
  readonly change: (name: string) => object
  /** What is left when it is deleted. */
  readonly end: "gone" | "archived"
  /** Rows that every workspace has, before its own. */
  readonly builtIn?: number
  /** Other ids under which there is nothing. */
  readonly odd?: ReadonlyArray<string>
}

const profile = { models: ["troupe/scripted"] }
const resources: ReadonlyArray<Resource> = [
  {
    many: "agents",
    one: "agent",
    prefix: "agt_",
    fields: async (name, client) => ({
      name,
      profileId: (await client.post("/v1/profiles", { name: "P", ...profile })).body.profile.id
    }),
    change: (name) => ({ name }),
    end: "archived",
    odd: [`agt_${"0".repeat(3000)}`]
  },
  {
    many: "profiles",
    one: "profile",
    prefix: "prof_",
    fields: (name) => ({ name, ...profile }),
    change: (name) => ({ name }),
    end: "archived"
  },
  {
    many: "roles",
    one: "role",
    prefix: "role_",
    fields: (name) => ({ name, allow: [{ tools: "*" }] }),
    change: (name) => ({ name }),
    end: "gone",
    builtIn: 3,
    odd: ["evaluate"]
  },
  {
    many: "toolsets",
    one: "toolset",
    prefix: "tset_",
    fields: (name) => ({ kind: "client", namespace: name, tools: [{ name: "t", inputSchema: { type: "object" } }] }),
    change: (description) => ({ description }),
    end: "gone"
  },
  {
    many: "connections",
    one: "connection",
    prefix: "conn_",
    fields: (name) => ({ provider: "p", name, secret: { token: "t" }, allowedHosts: ["tools.example.com"] }),
    change: (name) => ({ name }),
    end: "gone"
  }
]

const server = await sharedServer()

let workspaces = 0
/** Who is alone in a workspace. */
const alone = async () =>
  server.client(
    await server.runtime.runPromise(
      server.database.atomically("test.workspace", (tx) => ensureWorkspace(tx, `resources ${workspaces++}`))
    )
  )

describe.each(resources)("$many", ({ builtIn = 0, change, end, fields, many, odd = [], one, prefix }) => {
  const list = `/v1/${many}`
  const pathOf = (id: string) => `${list}/${id}`
  let client: Client
  beforeEach(async () => {
    client = await alone()
  })

  const make = async (name: string, of = client) => {
    const made = await of.post(list, await fields(name, of))
    assert.strictEqual(made.status, 201, made.text)
    return { id: String(made.body[one].id), made }
  }
  const idsOf = (page: { readonly [name: string]: ReadonlyArray<{ readonly id: string }> }) =>
    (page[many] ?? []).map(({ id }) => id)

  it("are created with 201, Location and ETag, and read back the same", async () => {
    const { id, made } = await make("created")
    assert.match(id, new RegExp(`^${prefix}[0-7][0-9a-z]{25}$`))
    assert.strictEqual(made.headers.get("location"), pathOf(id))
    assert.match(made.headers.get("etag") ?? "", /^"[^"]+"$/)
    const read = await client.get(pathOf(id))
    assert.deepStrictEqual(
      [read.status, read.text, read.headers.get("etag")],
      [200, made.text, made.headers.get("etag")]
    )
  })

  it("are created once for an Idempotency-Key, also by requests at the same time, and another body is refused", async () => {
    const own = await alone()
    const [body, other] = [await fields("once", own), await fields("other", own)]
    const send = (body: object) => own.post(list, body, { "idempotency-key": "once" })
    const all = await Promise.all([send(body), send(body), send(body)])
    assert.deepStrictEqual(
      all.map(({ status }) => status),
      [201, 201, 201]
    )
    const again = await send(body)
    assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [201, "true"])
    const told = [...all, again].map(({ headers, text }) => `${headers.get("location")} ${text}`)
    assert.strictEqual(new Set(told).size, 1)
    refused(await send(other), 422, "idempotency_key_reused")
    assert.lengthOf(idsOf((await own.get(`${list}?limit=200`)).body), builtIn + 1)
  })

  it("are listed newest first, without gaps or repeats whatever is added meanwhile", async () => {
    const own = await alone()
    const ids: Array<string> = []
    for (let i = 0; i < 5; i++) ids.unshift((await make(`page${i}`, own)).id)
    for (const limit of [1, 2, 200]) {
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const { body } = await own.get(
          `${list}?limit=${limit}${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
        )
        assert.isAtMost(idsOf(body).length, limit)
        seen.push(...idsOf(body))
        cursor = body.nextCursor
        if (limit === 2 && seen.length === builtIn + 2 + (builtIn % 2)) await make("meanwhile", own)
      } while (cursor !== undefined)
      const added = limit === 200 ? seen.length - builtIn - ids.length : 0
      assert.deepStrictEqual(seen.slice(builtIn + added), ids, `limit ${limit}`)
    }
  })

  it("are listed 1 to 200 a page, by cursors of this list and this workspace", async () => {
    for (let i = 0; i < 2; i++) await make(`limits${i}`)
    for (const limit of ["0", "201", "x", "1.5", "1e1", ""])
      refusedAt(await client.get(`${list}?limit=${limit}`), 400, "invalid_request", "limit")
    assert.strictEqual((await client.get(`${list}?limit=200`)).status, 200)
    const { nextCursor } = (await client.get(`${list}?limit=1`)).body
    assert.isString(nextCursor)
    refusedAt(await server.beta.get(`${list}?cursor=${nextCursor}`), 400, "invalid_request", "cursor")
    for (const other of resources.filter((other) => other.many !== many))
      refusedAt(await client.get(`/v1/${other.many}?cursor=${nextCursor}`), 400, "invalid_request", "cursor")
  })

  it("are changed under the ETag alone that they have, and by one of many who know it", async () => {
    const { id, made } = await make("tagged")
    const path = pathOf(id)
    const tag = made.headers.get("etag") ?? ""
    const send = (name: string, tag: string) => client.patch(path, change(name), { "if-match": tag })
    const changed = await send("b", tag)
    assert.strictEqual(changed.status, 200)
    const next = changed.headers.get("etag") ?? ""
    assert.notStrictEqual(next, tag)
    for (const wrong of [tag, `W/${next}`, next.slice(1, -1), `""`])
      refused(await send("c", wrong), 412, "precondition_failed")
    for (const none of ["", " "]) {
      const { body, status } = await send("c", none)
      assert.deepStrictEqual(
        [status, body],
        [
          400,
          {
            error: "invalid_request",
            code: "invalid_header",
            message: "If-Match: expected an ETag, quotes and all, or *"
          }
        ]
      )
    }
    refused(await client.delete(path, { "if-match": tag }), 412, "precondition_failed")
    assert.deepStrictEqual((await client.get(path)).body, changed.body)
    assert.strictEqual((await send("d", `"x", ${next}`)).status, 200)
    assert.strictEqual((await send("e", "*")).status, 200)

    const last = (await client.get(path)).headers.get("etag") ?? ""
    const many = await Promise.all(Array.from({ length: 8 }, (_, i) => send(`many${i}`, last)))
    assert.deepStrictEqual(many.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)])
  })

  it("keep their ETag where nothing changes", async () => {
    const { id } = await make("same")
    const changed = await client.patch(pathOf(id), change("word"))
    for (const body of [{}, change("word")]) {
      const answer = await client.patch(pathOf(id), body, { "content-type": "application/merge-patch+json" })
      assert.deepStrictEqual(
        [answer.status, answer.headers.get("etag"), answer.body[one]],
        [200, changed.headers.get("etag"), changed.body[one]]
      )
      refused(await client.patch(pathOf(id), body, { "if-match": `"other"` }), 412, "precondition_failed")
    }
  })

  it("are deleted with 204", async () => {
    const { id } = await make("ended")
    const path = pathOf(id)
    const { headers } = await client.get(path)
    const gone = await client.delete(path, { "if-match": headers.get("etag") ?? "" })
    assert.deepStrictEqual([gone.status, gone.text], [204, ""])
    assert.notInclude(idsOf((await client.get(`${list}?limit=200`)).body), id)
    if (end === "archived") {
      assert.strictEqual((await client.delete(path)).status, 204)
      assert.strictEqual((await client.get(path)).status, 200)
    } else
      for (const again of [await client.get(path), await client.patch(path, {}), await client.delete(path)])
        refused(again, 404, "not_found")
  })

  it("answer 404 for ids that are absent, malformed or of another workspace, and nothing changes", async () => {
    const { id, made } = await make("found")
    const nowhere = [absent(prefix), absent("thr_"), "x", `${prefix}1`, "%00", id.toUpperCase(), ...odd]
    for (const [who, path] of [
      ...nowhere.map((id) => [client, pathOf(id)] as const),
      [server.beta, pathOf(id)] as const
    ]) {
      refused(await who.get(path), 404, "not_found")
      // There, another path begins.
      if (odd.includes("evaluate") && path.endsWith("/evaluate")) continue
      refused(await who.patch(path, change("theirs")), 404, "not_found")
      refused(await who.delete(path), 404, "not_found")
    }
    assert.notInclude((await server.beta.get(`${list}?limit=200`)).text, id)
    assert.strictEqual((await client.get(pathOf(id))).text, made.text)
  })

  it("refuse another content type, other JSON than an object, and another method", async () => {
    refused(
      await client.post(list, "name=A", { "content-type": "application/x-www-form-urlencoded" }),
      415,
      "unsupported_media_type"
    )
    refused(await client.post(list, "[1]"), 400, "invalid_request")
    refused(await client.post(list, `{"name":"A"`), 400, "invalid_request")
    const { id } = await make("methods")
    for (const path of [list, pathOf(id)]) {
      const other = await client.send("PUT", path, {})
      refused(other, 405, "method_not_allowed")
      assert.include(other.headers.get("allow"), path === list ? "POST" : "PATCH")
    }
  })
})
