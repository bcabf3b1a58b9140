/** What a comparison of commits has begun, and how it is undone: from the last to the first, also on Ctrl-C. */

export const makeStops = () => {
  const stops: Array<() => Promise<void> | void> = []
  const all = async () => {
    for (const stop of stops.splice(0).reverse()) await Promise.resolve(stop()).catch(console.error)
  }
  process.once("SIGINT", () => void all().finally(() => process.exit(130)))
  return { stops, all }
}
