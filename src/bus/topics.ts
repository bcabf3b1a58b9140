/** What a hint is about and what a watch watches, as topics: a workspace, an agent, a thread. */
import type { About, Watch } from "./hints.ts"

const topicOf = (workspace: string, id: string | undefined) => (id === undefined ? workspace : `${workspace}/${id}`)

/** Ids carry their noun, so an agent's topic is never a thread's. */
export const topicsOf = ({ agentId, threadId, workspace }: About) => [
  topicOf(workspace, threadId),
  topicOf(workspace, agentId),
  topicOf(workspace, undefined)
]

/** Of a watch that names both, the thread is the topic; the agent still has to agree. */
export const topicWatched = ({ agentId, threadId, workspace }: Watch) => topicOf(workspace, threadId ?? agentId)
