/** A real Chromium for tests: Debian's package, installed when it is missing and this process may. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const executable = () => {
  const found = () => [process.env.CHROMIUM ?? "", ...paths].find((path) => existsSync(path))
  const there = found()
  if (there !== undefined) return there
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    for (const args of [
      ["update", "-q"],
      ["install", "-y", "-q", "--no-install-recommends", "chromium"]
    ]) {
      execFileSync("/usr/bin/apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] })
    }
    const installed = found()
    if (installed !== undefined) return installed
  }
  throw new Error("the browser tests need Chromium: apt-get install chromium, or set CHROMIUM to the path of one")
}

/** Nothing in it calls home: neither for updates nor for lists, accounts, or what is on a page. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable(),
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ]
  })
