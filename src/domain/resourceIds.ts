/** The id of each resource, as paths, queries and bodies name it. */
import { described } from "./described.ts"
import { idOf } from "./ids.ts"

export const ActorId = described(
  idOf("thread", "subscription", "schedule", "identity"),
  "Id of a thread, a subscription, a schedule, or of an identity's actor (`idn_…`)."
)
export const AgentId = described(idOf("agent"), "Id of the agent.")
export const ConnectionId = described(idOf("connection"), "Id of the connection.")
export const FeedId = described(idOf("feed"), "Id of the feed.")
export const KeyId = described(idOf("key"), "Id of the key.")
export const OperationId = described(idOf("operation"), "Id of the operation.")
export const ProfileId = described(idOf("profile"), "Id of the profile.")
export const RoleId = described(idOf("role"), "Id of the role.")
export const ScheduleId = described(idOf("schedule"), "Id of the schedule.")
export const SubscriptionId = described(idOf("subscription"), "Id of the subscription.")
export const ThreadId = described(idOf("thread"), "Id of the thread.")
export const ToolsetId = described(idOf("toolset"), "Id of the toolset.")
export const WaitId = described(idOf("wait"), "Id of the wait.")
export const WebhookDeliveryId = described(idOf("webhookDelivery"), "Id of the delivery.")
export const WebhookId = described(idOf("webhook"), "Id of the webhook.")
