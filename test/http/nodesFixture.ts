/** Two nodes on one database and one bus, whose wires can be cut. */
import { Effect, Layer } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { NoAnswer } from "../../src/bus/hints.ts"
import { type InProcess, makeInProcess } from "../../src/bus/inProcess.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeAgent } from "./threadFixture.ts"

/** A bus of several nodes. While it is cut, nothing gets from node to node. */
const cuttable = () => {
  let isCut = false
  let shared: InProcess
  const layer = () => {
    const mine = new Set<string>()
    return Layer.effect(
      Bus,
      Effect.gen(function* () {
        shared ??= yield* makeInProcess()
        return Bus.of({
          ...shared,
          serve: (incarnation, answer) => {
            mine.add(incarnation)
            return shared.serve(incarnation, answer)
          },
          request: (to, message, timeoutMs) =>
            isCut && !mine.has(to)
              ? Effect.fail(new NoAnswer({ incarnation: to, reason: "away" }))
              : shared.request(to, message, timeoutMs),
          publish: (hint) => {
            if (!isCut) shared.publish(hint)
          },
          wake: (shard) => {
            if (!isCut) shared.wake(shard)
          },
          authChanged: () => {
            if (!isCut) shared.authChanged()
          },
          nodesChanged: () => {
            if (!isCut) shared.nodesChanged()
          },
          state: () => (isCut ? "disconnected" : "connected")
        })
      })
    )
  }
  const cutting = async <A>(work: () => Promise<A>) => {
    isCut = true
    return work().finally(() => {
      isCut = false
    })
  }
  return { cutting, layer }
}

/** What a file's tests stand on. */
export const nodesStand = async () => {
  const { cutting, layer: busLayer } = cuttable()
  // Long enough that a thread which is asked again and again keeps its epoch.
  const idleMs = 5_000
  const a = await during(startServer({ bus: busLayer(), name: "a", idleMs }))
  const b = await during(startServer({ bus: busLayer(), name: "b", beside: a, idleMs }))
  /** The same credential there. */
  const twin = (client: Client) => b.at(client)
  const atA = a.alpha
  const atB = twin(atA)
  const agentId = await makeAgent(atA)
  await eventually(async () => (await atA.get("/v1/nodes")).body.nodes.length === 2, "there are 2 nodes")
  const ownerOf = (threadId: string) =>
    a.runtime.runPromise(
      a.database.run("test.owner", (db) =>
        db.selectFrom("heads").select(["owner", "epoch"]).where("id", "=", toUuid(threadId)).executeTakeFirstOrThrow()
      )
    )
  return { a, agentId, atA, atB, b, busLayer, cutting, ownerOf, twin }
}
