/**
 * What the development server says when it is up. The key itself stands on a terminal only: what is not one may be
 * a file that others read.
 */
import { demoAgent } from "../domain/demo.ts"

export interface Started {
  /** URLs of the nodes. */
  readonly bases: ReadonlyArray<string>
  readonly key: string
  /** The file that keeps the key; undefined when TROUPE_DEV_KEY gave it. */
  readonly keyFile: string | undefined
  readonly terminal: boolean
}

const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`

export const banner = ({ bases, key, keyFile, terminal }: Started) => {
  const [base = ""] = bases
  const shown = terminal ? key : (keyFile ?? "the one of TROUPE_DEV_KEY")
  const pasted = terminal ? key : keyFile === undefined ? "$TROUPE_DEV_KEY" : `$(cat ${quoted(keyFile)})`
  return `
  Console    ${base}/console${terminal ? `#key=${key}` : ""}
  API        ${bases.join("\n             ")}
  Reference  ${base}/docs
  OpenAPI    ${base}/v1/openapi.json
  Key        ${shown}

  Try it: the first line starts a thread with a message, the second waits for the agent's words.

answer=$(curl -sS ${base}/v1/threads -H "Authorization: Bearer ${pasted}" -H "Content-Type: application/json" -d \
'{"agentId":"${demoAgent}","message":{"content":[{"type":"text","text":"Hello, Troupe"}]}}'); echo "$answer"
curl -sS "${base}/v1/threads/$(echo "$answer" | grep -o 'thr_[0-9A-Za-z]*' | head -n 1)/events\
?afterSeq=1&waitSeconds=20" -H "Authorization: Bearer ${pasted}" | grep -o '"text":"[^"]*"' || \
echo "no answer: the line above may say why"
`
}
