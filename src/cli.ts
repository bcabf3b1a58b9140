/**
 * Runs start.mjs, for whoever starts this file. It takes a quarter of a second more, and has the compiler of TypeScript
 * in memory: Node compiles this file before its cache is on.
 */
import "./start.mjs"
