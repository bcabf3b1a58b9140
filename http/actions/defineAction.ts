/** An action as its endpoint performs it, and as whoever approves it finds it by name. */
import { Effect, Option, Schema } from "effect"
import type { Refused } from "../errors.ts"
import type { Action, AnyAction, Asking, ReadyAction } from "./Action.ts"

export interface DefinedAction<Params, R extends Refused> extends Action<Params, R>, AnyAction {}

export const defineAction = <Params, R extends Refused>(action: Action<Params, R>): DefinedAction<Params, R> => {
  const read = Schema.decodeUnknownOption(action.params)
  const { way } = action
  const readyWith = (asking: Asking, params: Params): ReadyAction => {
    switch (way.type) {
      case "change":
        return {
          type: "change",
          change: (tx) => way.change(tx, asking, params),
          changed: () => way.changed?.(asking, params)
        }
      case "read":
        return {
          type: "steps",
          done: Effect.map(way.read(asking, params), (answer) => async () => answer),
          afterwards: Effect.void
        }
      case "command":
        return { type: "steps", done: way.command(asking, params), afterwards: way.afterwards }
    }
  }
  return {
    ...action,
    ready: (asking, request) => {
      const params = read(request)
      return Option.isSome(params) ? readyWith(asking, params.value) : undefined
    },
    toolOf: (request, agentId) => {
      const params = read(request)
      return Option.isSome(params) ? action.tool?.(params.value, agentId) : undefined
    }
  }
}
