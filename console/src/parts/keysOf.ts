/** The keys of a record that names each of its own, in its order. */
export const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>) => Object.keys(record) as Array<Key>
