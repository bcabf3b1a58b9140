/**
 * What Node compiled of the programs is kept for the next start, beside the packages and not in a folder that other
 * users of the machine share: a start takes half the time, and the process keeps no compiler of TypeScript. JavaScript,
 * because the first module of TypeScript, where that comes before this, loads the compiler. Where nothing may be
 * written, nothing is kept.
 */
import { enableCompileCache } from "node:module"

enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/troupe`)
