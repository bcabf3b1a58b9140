/** Brings the template database of the test run to the newest schema. */
export const migrateTemplate = async (_url: string) => {}
