/** What an append tells of the use of a model: a response, or a failed attempt of which the provider reported it. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Command } from "../../machines/thread/commands.ts"
import type { ModelUse } from "../../src/usage/UsageCounts.ts"
import type { ActorView } from "../Kind.ts"
import { payerOf } from "./settings.ts"

/** `command` is one that has taken effect; `being` is as it was before. */
export const useIn = (being: ActorView<Snapshot>, command: Command | undefined): ModelUse | undefined => {
  if (command?.type !== "model.replied" && command?.type !== "model.failed") return undefined
  const { at, modelId, usage } = command
  const agentId = payerOf(being)
  if (usage === undefined || agentId === "" || !being.snapshot.matches({ running: "sampling" })) return undefined
  return { workspace: being.ref.workspace, agentId, model: modelId, at, usage }
}
