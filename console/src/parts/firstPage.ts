/** Where a list begins: its first page has no cursor, and every other one has that of the page before. */
export const firstPage: { readonly initialPageParam: string | undefined } = { initialPageParam: undefined }
