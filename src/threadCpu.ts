/** Milliseconds of processor time that this thread has used; undefined on Node 23.0 to 23.8, which cannot tell. */
export const threadCpuMs = (): number | undefined => {
  if (!("threadCpuUsage" in process)) return undefined
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}
