/** A length of time, for people. */
const minutes = (seconds: number) => `${Math.floor(seconds / 60)} min ${seconds % 60} s`

export const duration = (ms: number) =>
  // Each is rounded before its unit is chosen: 59.96 s are a minute.
  ms < 999.5 ? `${Math.round(ms)} ms` : ms < 59_950 ? `${(ms / 1_000).toFixed(1)} s` : minutes(Math.round(ms / 1_000))
