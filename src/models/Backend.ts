/** One model that can be sampled, behind its row of the catalogue; `Models` is made of these. */
import type { Effect } from "effect"
import type { ModelEntry, ModelFailure, ModelReply, SampleRequest } from "./Model.ts"

export interface Backend {
  readonly entry: ModelEntry
  readonly sample: (request: SampleRequest) => Effect.Effect<ModelReply, ModelFailure>
}
