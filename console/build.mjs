/** What `npm ci` runs: builds the console where its tools are installed. An installation to serve with has none. */
/** @param {string} name */
const isInstalled = (name) => {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

if (isInstalled("vite") && isInstalled("@vitejs/plugin-react")) {
  const { build } = await import("vite")
  await build({ configFile: new URL("vite.config.ts", import.meta.url).pathname, logLevel: "warn" })
} else console.log("The console is not built: its tools are not installed.")
