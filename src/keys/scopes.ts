/** The scopes that a key may hold, apart from the schemas of keys: a command's help names them and needs no schema. */
export const scopes = ["read", "run", "write", "approve", "admin"] as const
