/** Everything that this server answers: the interface, its reference, the probes; and the frame around them. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import * as Frame from "./Frame.ts"
import * as Gate from "./Gate.ts"
import * as probes from "./probes.ts"
import * as reference from "./reference.ts"

/** Handlers of every group: add yours. */
const Handlers = Layer.mergeAll(
  Layer.empty
)

export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers.pipe(Layer.provide(Gate.layer)))),
  reference.layer(Api),
  probes.layer,
  Frame.layer(Api, [...probes.probePaths, ...reference.referencePaths])
)
