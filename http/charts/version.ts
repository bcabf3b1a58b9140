/** Tells one chart from another: a hash of its definition. */
import { hash } from "node:crypto"
import type { ChartDefinition } from "../../machines/definition.ts"

export const versionOf = (definition: ChartDefinition) => hash("sha256", JSON.stringify(definition), "hex").slice(0, 16)
