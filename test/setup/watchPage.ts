/** What a page asked for, and what it complained of. */
import type { Page } from "playwright-core"

export const watch = (page: Page, base: string) => {
  const asked: Array<string> = []
  const complaints: Array<string> = []
  page.on("request", (request) => asked.push(request.url()))
  page.on("websocket", (socket) => asked.push(socket.url()))
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText
    // What the page itself has ended, a stream when it is left say.
    if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${why}`)
  })
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return {
    complaints,
    elsewhere: () =>
      asked.filter((url) => !["data:", "blob:"].includes(new URL(url).protocol) && new URL(url).origin !== base),
    asked
  }
}
