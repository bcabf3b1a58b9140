/**
 * Samples to paste into a shell, for the reference: it would make them up itself, and send every optional parameter,
 * empty or not. The address and the key are variables, as in docs/tour.md, and so are ids that only the client
 * knows: of one that is not set the shell says what it should be, and sends nothing.
 */

interface CurlRequest {
  readonly method: string
  /** `/v1/threads/{threadId}`. */
  readonly path: string
  /** The value of a parameter in the path, where there is one that exists. */
  readonly known: (name: string) => string | undefined
  /** What the ids that belong there begin with: `thr_`. */
  readonly prefixOf: (name: string) => string | undefined
  readonly body?: unknown
  readonly streams: boolean
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** In a shell: its value, or an error that says what is missing. */
const variable = (name: string, prefix: string | undefined) =>
  `\${${name}:?set it${prefix === undefined ? "" : ` to an id: ${prefix}…`}}`

export const curlOf = ({ body, known, method, path, prefixOf, streams }: CurlRequest) => {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => known(name) ?? variable(name, prefixOf(name)))
  const verb = method === "get" || (method === "post" && body !== undefined) ? "" : ` -X ${method.toUpperCase()}`
  return [
    `curl -sS${streams ? "N" : ""}${verb} "$url${url}"`,
    `-H "Authorization: Bearer $key"`,
    ...(body === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d ${quoted(JSON.stringify(body, null, 2))}`])
  ].join(" \\\n  ")
}
