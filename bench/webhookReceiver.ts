/** An endpoint of webhooks in a process of its own: prints its URL, takes whatever it is told, and runs until it is killed. */
import { createServer } from "node:http"

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(204).end())
}).listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/\n`)
})
