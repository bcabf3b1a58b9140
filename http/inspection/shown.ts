/** Steps as clients are shown them. */
import type { LoggedStep } from "../../machines/steps.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import type { ActorStep } from "./api.ts"

export const shownStep = (step: LoggedStep): ActorStep => ({ ...step, at: toTimestamp(step.at) })
