/**
 * What Node compiled of the packages is kept between test files and runs, as src/cli/compiled.mjs keeps it between
 * starts. Not by the environment: programs that tests start have flags and a folder of their own.
 */
import { enableCompileCache } from "node:module"

enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/tests`)
