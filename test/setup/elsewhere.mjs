/** Preloaded into a process that shall take itself for one of another platform, or of another Node. */
const { ELSEWHERE_PLATFORM, ELSEWHERE_ARCH, ELSEWHERE_NODE } = process.env

/** @param {string} name @param {unknown} value */
const pretend = (name, value) => Object.defineProperty(process, name, { value })

if (ELSEWHERE_PLATFORM !== undefined) pretend("platform", ELSEWHERE_PLATFORM)
if (ELSEWHERE_ARCH !== undefined) pretend("arch", ELSEWHERE_ARCH)
if (ELSEWHERE_NODE !== undefined) pretend("versions", { ...process.versions, node: ELSEWHERE_NODE })
