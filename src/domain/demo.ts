/**
 * Ids of what a development server has from its first start: the same on every machine, so that a line from the
 * documentation works as it stands.
 */

export const demoAgent = "agt_0000000000000000000000dem0"
export const demoProfile = "prof_0000000000000000000000dem0"
export const demoRole = "role_0000000000000000000000dem0"
