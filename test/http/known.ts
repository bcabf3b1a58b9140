/**
 * What requests know of the server that they are sent to: ids that exist, here and in another workspace, cursors, and
 * what comes before an id in a path: an input's thread, a schedule's agent.
 */
import type { Operation } from "./document.ts"

/** Ids by their prefix. */
export class Pool {
  readonly #ids = new Map<string, Array<string>>()

  add(...ids: ReadonlyArray<string>) {
    for (const id of ids) {
      const prefix = /^[a-z]+_/.exec(id)?.[0] ?? ""
      const list = this.#ids.get(prefix) ?? []
      if (!list.includes(id)) this.#ids.set(prefix, [...list.slice(-20), id])
    }
  }

  /** Of a prefix only the last that came are asked for. */
  keepNewest(prefix: string, many: number) {
    this.#ids.set(prefix, (this.#ids.get(prefix) ?? []).slice(-many))
  }

  /** What is gone is asked for by chance alone. */
  forget(...ids: ReadonlyArray<string>) {
    for (const [prefix, list] of this.#ids)
      this.#ids.set(
        prefix,
        list.filter((id) => !ids.includes(id))
      )
  }

  /** The n-th, round and round; one that nobody has where there is none. */
  pick(prefix: string, n: number) {
    const list = this.#ids.get(prefix) ?? []
    return list[n % list.length] ?? `${prefix}01m7y1svs7e0087pe32vr71000`
  }
}

/** Keys are told apart: an answer that lists them also names those that the test itself uses. */
const learned =
  /"((?:agt|call|conn|dlv|evt|feed|hook|inp|mver|op|prof|role|sch|sub|thr|trn|tset|wait|whd|whk)_[0-7][0-9a-hjkmnp-tv-z]{25}|img_[0-9a-f]{64})"/g
/** Those that paths name behind another's id. */
const nested = /^(?:img|inp|mver|sch|sub|wait|whd)_/
const text = 20_000

export class Known {
  readonly own = new Pool()
  readonly foreign = new Pool()
  readonly nobodys = new Pool()
  readonly #parents = new Map<string, string>()
  readonly #cursors = new Map<string, ReadonlyArray<string>>()

  /** The id that comes before this one in a path. */
  parentOf(id: string) {
    return this.#parents.get(id)
  }

  addTo(parent: string, ...ids: ReadonlyArray<string>) {
    this.own.add(...ids)
    for (const id of ids) this.#parents.set(id, parent)
  }

  cursor(path: string, n: number) {
    const list = this.#cursors.get(path) ?? []
    return list[n % list.length] ?? "none"
  }

  /** What a request that was carried out has brought to light. */
  learn({ method, path }: Operation, sentTo: string, answer: string) {
    const said = answer.slice(0, text)
    const parent = /(?:agt|thr|whk)_[0-9a-z]{26}/.exec(sentTo)?.[0]
    for (const [, id = ""] of said.matchAll(learned))
      if (parent !== undefined && nested.test(id)) this.addTo(parent, id)
      else this.own.add(id)
    const key = method === "POST" && path === "/v1/auth/keys" ? /"(key_[0-7][0-9a-z]{25})"/.exec(said)?.[1] : undefined
    if (key !== undefined) this.own.add(key)
    const cursor = /"nextCursor":"([^"]+)"/.exec(answer)?.[1]
    if (cursor !== undefined) this.#cursors.set(path, [...(this.#cursors.get(path) ?? []).slice(-5), cursor])
  }
}
