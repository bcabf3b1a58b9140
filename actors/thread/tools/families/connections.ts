/** The family `connections`: which credentials the workspace keeps for other servers, never what they hold. */
import { Effect, Schema } from "effect"
import { listConnections } from "../../../../src/connections/rows.ts"
import type { Database } from "../../../../src/database/Database.ts"
import { builtIn, type Family } from "../builtIn.ts"
import { pageFields, pageOf, rowsAsked } from "./pages.ts"

export const connectionsFamily = (database: Database["Service"]): Family => ({
  name: "connections",
  description:
    "Credentials that this workspace keeps for other servers, such as API keys and tokens: which there are, not " +
    "what they hold.",
  tools: [
    builtIn({
      name: "connections.list",
      description:
        "Lists the workspace's connections, newest first: id, name, provider, kind, base URL and status. Secrets " +
        "are never shown.",
      input: Schema.Struct(pageFields),
      readOnly: true,
      run: ({ workspace }, page) =>
        Effect.map(
          database.run("connections.list", (db) => listConnections(db, workspace, rowsAsked(page))),
          (found) => {
            const { rows, ...more } = pageOf(page, found)
            return {
              output: {
                connections: rows.map(({ baseUrl, createdAt, id, kind, name, provider, status }) => ({
                  id,
                  name,
                  provider,
                  kind,
                  status,
                  createdAt,
                  ...(baseUrl === undefined ? {} : { baseUrl })
                })),
                ...more
              }
            }
          }
        )
    })
  ]
})
