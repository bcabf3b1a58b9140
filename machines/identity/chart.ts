/**
 * One identity of a workspace: enabled, or disabled and by whom. Saying it twice changes nothing.
 */
import { setup, type SnapshotFrom } from "xstate"
import { chartTypes } from "../step.ts"
import type { Principal } from "../../src/domain/principal.ts"

export interface Command {
  readonly type: "disable" | "enable"
  readonly by: Principal
  /** Milliseconds. */
  readonly at: number
}

export interface Fact {
  readonly type: "identity_disabled" | "identity_enabled"
  readonly by: Principal
  readonly at: number
}

export interface Context {
  readonly disabled: { readonly at: number; readonly by: Principal } | null
}

const base = setup({ types: chartTypes<{ context: Context; events: Command; emitted: Fact }>() })

const machine = base.extend({
  actions: {
    noteDisabled: base.assign(({ event: { at, by } }) => ({ disabled: { at, by } })),
    noteEnabled: base.assign({ disabled: null })
  }
})

const saying = (type: Fact["type"]) => base.emit(({ event: { at, by } }) => ({ type, at, by }))

export const chart = machine.createMachine({
  id: "identity",
  context: { disabled: null },
  initial: "enabled",
  description: "Whether anybody may act for an identity.",
  states: {
    enabled: {
      description: "Turns and credentials may act for it.",
      on: {
        disable: {
          target: "disabled",
          actions: ["noteDisabled", saying("identity_disabled")],
          description: "Somebody disables it; disabling it again changes nothing."
        }
      }
    },
    disabled: {
      description: "Anything that would act for it is refused.",
      on: {
        enable: {
          target: "enabled",
          actions: ["noteEnabled", saying("identity_enabled")],
          description: "Somebody enables it; enabling it again changes nothing."
        }
      }
    }
  }
})

export type Snapshot = SnapshotFrom<typeof chart>
