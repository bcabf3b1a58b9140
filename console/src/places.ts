/** The page of a thing, by its id. */
import { linkOptions } from "@tanstack/react-router"

const places = {
  thr_: (threadId: string) => linkOptions({ to: "/threads/$threadId", params: { threadId } }),
  agt_: (agentId: string) => linkOptions({ to: "/agents/$agentId", params: { agentId } }),
  prof_: (profileId: string) => linkOptions({ to: "/profiles/$profileId", params: { profileId } }),
  role_: (roleId: string) => linkOptions({ to: "/roles/$roleId", params: { roleId } }),
  tset_: (toolsetId: string) => linkOptions({ to: "/toolsets/$toolsetId", params: { toolsetId } }),
  conn_: (connectionId: string) => linkOptions({ to: "/connections/$connectionId", params: { connectionId } }),
  feed_: (feedId: string) => linkOptions({ to: "/feeds/$feedId", params: { feedId } }),
  sub_: (subscriptionId: string) => linkOptions({ to: "/subscriptions/$subscriptionId", params: { subscriptionId } }),
  whk_: (webhookId: string) => linkOptions({ to: "/webhooks/$webhookId", params: { webhookId } }),
  op_: (operationId: string) => linkOptions({ to: "/operations/$operationId", params: { operationId } }),
  // Their pages are below an agent, which the id does not say.
  sch_: (actorId: string) => linkOptions({ to: "/actors/$actorId", params: { actorId } }),
  idn_: (actorId: string) => linkOptions({ to: "/actors/$actorId", params: { actorId } })
}

const isKnown = (prefix: string): prefix is keyof typeof places => Object.hasOwn(places, prefix)

/** For people. */
export const known = Object.keys(places).join(" ")

export const placeOf = (id: string) => {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? ""
  return isKnown(prefix) ? places[prefix](id) : undefined
}
