/**
 * Milliseconds from now that a `Retry-After` asks to wait, in seconds or as a date; undefined where it says neither.
 */
export const retryAfterMs = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  if (/^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(header)) return Math.round(Number(header) * 1000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
