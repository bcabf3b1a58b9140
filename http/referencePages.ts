/**
 * What the reference shows, as it goes over the wire: the OpenAPI document of an interface, and a page that carries it
 * and the script that shows it. Half a second of work: whoever serves them has it done elsewhere (reference.ts).
 */
import { HttpRouter } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"

export interface ReferencePages {
  readonly page: Uint8Array<ArrayBuffer>
  readonly document: Uint8Array<ArrayBuffer>
}

/** Two masks, one behind the other. */
const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="20" cy="13" r="10" ` +
  `fill="#f59e0b"/><circle cx="12" cy="19" r="10" fill="#1f2937"/><circle cx="9" cy="17" r="1.5" ` +
  `fill="#fff"/><circle cx="15" cy="17" r="1.5" fill="#fff"/><path d="M7 21q5 5 10 0" stroke="#fff" ` +
  `stroke-width="1.5" fill="none" stroke-linecap="round"/></svg>`

/**
 * No fonts from elsewhere, and neither toolbar nor button that would take the document to somebody's service. Of
 * samples only ours (openapi/curl.ts): those that the page makes up itself send every optional header, empty, and are
 * refused.
 */
const scalar = {
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  hiddenClients: true,
  favicon: `data:image/svg+xml,${encodeURIComponent(icon)}`,
  authentication: { preferredSecurityScheme: "APIKeyBearer" }
}

/** The library makes its page only as an answer: it is asked once, without a server. */
const pageOf = async <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiScalar.layer(api, { path: "/docs", scalar }), {
    disableLogger: true
  })
  try {
    const answer = await handler(new Request("http://reference/docs"))
    if (!answer.ok) throw new Error(`the reference's page could not be made: ${answer.status}`)
    return new Uint8Array(await answer.arrayBuffer())
  } finally {
    await dispose()
  }
}

export const pagesOf = async <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Promise<ReferencePages> => ({
  document: new TextEncoder().encode(JSON.stringify(OpenApi.fromApi(api))),
  page: await pageOf(api)
})
