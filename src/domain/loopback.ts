/** Whether a host is this machine itself: what is sent there does not leave it. */
export const isLoopback = (host: string) =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)
