/** The scopes that a key may hold: what a command's help names too, without the schemas of keys. */
export const scopes = ["read", "run", "write", "approve", "admin"] as const
