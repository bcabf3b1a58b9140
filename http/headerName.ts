/** Names of headers as they are written: if-match is If-Match. */
export const canonical = (name: string) =>
  name
    .toLowerCase()
    .replace(/(^|-)id$/, "$1ID")
    .replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
