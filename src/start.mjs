/** What npm start and npm run serve run: JavaScript, so that a Node too old for TypeScript says so itself. */
import { refused } from "./cli/lacking.mjs"

if (!refused()) await import("./cli.ts")
