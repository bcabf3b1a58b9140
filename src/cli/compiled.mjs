/**
 * Turns on Node's compile cache: what it compiled is kept for the next start, which takes half the time and loads no
 * compiler of TypeScript. The folder is beside the packages, not one that other users of the machine share; where it
 * cannot be written, nothing is kept. This module is JavaScript and comes first: a module of TypeScript before it would
 * load the compiler.
 */
import { enableCompileCache } from "node:module"

enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/troupe`)
