/**
 * `/console`: the web console. Its assets have their hash in their names and never change; any other path below is the
 * page, which finds its way by the address.
 *
 * O1. The page runs its own files and talks to this server only: nothing is loaded from elsewhere, no HTML is made of
 *     text, and nobody frames it.
 * O2. It needs no credential, and knows none: the key stays in the tab, and goes with the page's own requests.
 */
import { Effect } from "effect"
import { HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomBytes } from "node:crypto"
import { Refused } from "../errors.ts"
import { header } from "../headers.ts"
import { toResponse } from "../refusing.ts"
import { type Asset, type ConsoleFiles, type Encoding, noncePlace, readConsole } from "./files.ts"

export const consolePaths = ["/console", "/console/*"]

/** O1. */
const policyOf = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'"
  ].join("; ")

const pageOf = (page: string) => {
  const nonce = randomBytes(16).toString("base64")
  return HttpServerResponse.text(page.replaceAll(noncePlace, nonce), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": policyOf(nonce),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer"
    }
  })
}

const accepts = (accepted: string, encoding: Encoding) =>
  accepted.split(",").some((one) => {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter))
  })

const assetOf = ({ encoded, identity, type }: Asset, accepted: string) => {
  const chosen = (["br", "gzip"] as const).find((name) => encoded[name] !== undefined && accepts(accepted, name))
  return HttpServerResponse.setBody(
    HttpServerResponse.empty({
      status: 200,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(chosen === undefined ? {} : { "content-encoding": chosen })
      }
    }),
    HttpBody.uint8Array((chosen && encoded[chosen]) ?? identity, type)
  )
}

const unbuilt = () =>
  toResponse(
    new Refused({
      error: "runtime_unavailable",
      message: "The console has not been built. Run `npm run console`, then start the server anew."
    })
  )
const noFile = () => toResponse(new Refused({ error: "not_found", message: "The console has no such file." }))

const assetPath = /^\/console\/assets\/([^/?]+)(?:\?|$)/

const answer = (files: ConsoleFiles | undefined, request: HttpServerRequest.HttpServerRequest) => {
  if (files === undefined) return unbuilt()
  const path = new URL(request.url, "http://console").pathname
  if (!path.startsWith("/console/assets/")) return pageOf(files.page)
  const asset = files.assets.get(assetPath.exec(path)?.[1] ?? "")
  return asset === undefined ? noFile() : assetOf(asset, header(request, "accept-encoding") ?? "")
}

/** Of the files in that folder, which are read when somebody first asks. */
export const layer = (folder: string) => {
  let read: { readonly files: ConsoleFiles | undefined } | undefined
  const route = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    read ??= { files: readConsole(folder) }
    return answer(read.files, request)
  })
  // `/console` itself is one of them.
  return HttpRouter.add("GET", "/console/*", route)
}
