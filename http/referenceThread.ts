/** What the thread runs that makes the reference (reference.ts): it makes it, gives it away and ends. */
import { parentPort } from "node:worker_threads"
import { Api } from "./Api.ts"
import { pagesOf } from "./referencePages.ts"

if (parentPort !== null) {
  const pages = await pagesOf(Api)
  parentPort.postMessage(pages, [pages.page.buffer, pages.document.buffer])
}
