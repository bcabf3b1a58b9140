/**
 * What a property means, said where it stands: the reference and generated clients show it.
 *
 * A description says meaning, unit and default. Bounds and forms are the schema's own, and are not said again.
 */
import type { Schema } from "effect"

export const described = <S extends Schema.Top>(schema: S, description: string) => schema.annotateKey({ description })
