/** Turns that hooks, people and clients judge, as scenarios of crash points tell of them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { HookPoint } from "../../src/domain/event.ts"
import type { Hook } from "../../src/domain/hook.ts"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import type { Recorded } from "../invariants.ts"
import type { Client } from "./Client.ts"
import { rewrites } from "./Toolbox.ts"
import type { World } from "./World.ts"

export const judgedBy =
  (...hooks: ReadonlyArray<Hook>) =>
  (world: World) => {
    world.hooks = hooks
  }

export const allow = { type: "decision", decision: "allow" } as const satisfies GivenAnswer
export const deny = { type: "decision", decision: "deny", reason: "No." } as const satisfies GivenAnswer
export const rewrite = (point: HookPoint): GivenAnswer => ({ ...allow, rewrite: rewrites[point] })

/** The thread's last words: the scripted model reports what its tools said. */
export const lastWords = (text: string) => (log: ReadonlyArray<Recorded>) => {
  const said = log.findLast(({ type }) => type === "assistant_message")?.event.content
  assert.deepStrictEqual(said, [{ type: "text", text }])
}

export const timesRun = ({ runs }: World) => [...runs.values()]

/** Sends the script, and answers as soon as somebody is waited for. */
export const answered = (script: string, ...answers: ReadonlyArray<GivenAnswer>) =>
  Effect.fnUntraced(function* (client: Client) {
    yield* client.create("A", script)
    for (const answer of answers) yield* client.answers(answer)
  })
