/**
 * The API key of this tab.
 *
 * E1. It is kept in the tab's own storage, and in nothing that a server would be sent by itself.
 * E2. It may come in the address's fragment, which no server sees either; it is taken out of the address at once.
 * E3. A new tab asks the open ones for it. Signing out forgets it in all of them.
 */
const name = "troupe.key"

type News = { readonly type: "wanted" } | { readonly type: "key"; readonly key: string } | { readonly type: "forget" }

const isNews = (data: unknown): data is News =>
  typeof data === "object" && data !== null && "type" in data && typeof data.type === "string"

const channel = new BroadcastChannel("troupe")

const takeFromAddress = (): string | undefined => {
  const key = new URLSearchParams(location.hash.slice(1)).get("key") ?? undefined
  if (key !== undefined) history.replaceState(history.state, "", location.pathname + location.search)
  return key
}

/** E2: before anything else reads the address. */
let brought = takeFromAddress()

export const keptKey = (): string | undefined => sessionStorage.getItem(name) ?? undefined

export const keepKey = (key: string) => {
  brought = undefined
  sessionStorage.setItem(name, key)
  channel.postMessage({ type: "key", key } satisfies News)
}

/** Of a key that has ended: this tab forgets it, whatever the others have. */
export const dropKey = () => {
  brought = undefined
  sessionStorage.removeItem(name)
}

export const forgetKey = () => {
  dropKey()
  channel.postMessage({ type: "forget" } satisfies News)
}

/** The key that is there from the start, if one is: of the address, else of this tab. */
export const firstKey = (): string | undefined => brought ?? keptKey()

/** What other tabs say; those are asked for a key where this one has none. Returns how to stop listening. */
export const onNews = (listen: { readonly key: (key: string) => void; readonly forget: () => void }) => {
  const hear = ({ data }: MessageEvent<unknown>) => {
    if (!isNews(data)) return
    if (data.type === "key") listen.key(data.key)
    if (data.type === "forget") {
      dropKey()
      listen.forget()
    }
    const mine = keptKey()
    if (data.type === "wanted" && mine !== undefined) channel.postMessage({ type: "key", key: mine } satisfies News)
  }
  channel.addEventListener("message", hear)
  if (keptKey() === undefined) channel.postMessage({ type: "wanted" } satisfies News)
  return () => channel.removeEventListener("message", hear)
}
