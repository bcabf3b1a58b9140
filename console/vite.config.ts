/** Builds the console into `console/dist`, each file compressed beside itself: the server sends them as they are. */
import react from "@vitejs/plugin-react"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { defineConfig, type Plugin } from "vite"
import { drawings } from "./chartLayouts.ts"
import { noncePlace } from "../http/console/files.ts"

const compressed = (): Plugin => ({
  name: "compressed",
  apply: "build",
  writeBundle: ({ dir = "" }) => {
    const folder = join(dir, "assets")
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      const bytes = readFileSync(file)
      writeFileSync(
        `${file}.br`,
        brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })
      )
      writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    }
  }
})

/** The charts, drawn once: no layout is made in a browser. */
const chartDrawings = (): Plugin => {
  const name = "virtual:chart-drawings"
  return {
    name: "chart-drawings",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: async (id) => (id === `\0${name}` ? `export default ${JSON.stringify(await drawings())}` : undefined)
  }
}

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react(), chartDrawings(), compressed()],
  html: { cspNonce: noncePlace },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2024"
  },
  server: { proxy: { "/v1": process.env.TROUPE_URL ?? "http://127.0.0.1:4100" } }
})
