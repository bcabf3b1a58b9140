/** Requests as tests send them: anything at all, with the answer read whole. */
import { connect } from "node:net"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed when it is JSON. */
  readonly body: unknown
}

export const send = async (url: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

/** Writes bytes to a socket, closes its half, and gives back all that came. */
export const raw = (url: string, bytes: string | Uint8Array, halfClose = true) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let text = ""
    socket
      .setEncoding("utf8")
      .on("data", (chunk) => {
        text += chunk
      })
      .on("close", () => resolve(text))
      .on("error", reject)
    socket.write(bytes)
    if (halfClose) socket.end()
  })
