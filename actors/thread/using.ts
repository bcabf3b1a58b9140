/** What an append tells of the use of a model: an answer, or a failed attempt of which the provider reported it. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Command } from "../../machines/thread/commands.ts"
import type { ModelUse } from "../../src/usage/UsageCounts.ts"
import type { ActorView } from "../Kind.ts"
import { payerOf } from "./settings.ts"

/** `command` is one that has taken effect; `being` is as it was before. */
export const useIn = (being: ActorView<Snapshot>, command: Command | undefined): ModelUse | undefined => {
  switch (command?.type) {
    case "model.replied":
    case "model.failed":
      return being.snapshot.matches({ running: "sampling" }) ? useOf(being, command) : undefined
    case "summary.made":
    case "summary.failed":
      return being.snapshot.matches({ running: "compacting" }) ? useOf(being, command) : undefined
    default:
      return undefined
  }
}

type Called = Extract<Command, { type: "model.replied" | "model.failed" | "summary.made" | "summary.failed" }>

const useOf = (being: ActorView<Snapshot>, { at, modelId, usage }: Called): ModelUse | undefined => {
  const agentId = payerOf(being)
  return usage === undefined || agentId === ""
    ? undefined
    : { workspace: being.ref.workspace, agentId, model: modelId, at, usage }
}
