/**
 * What the reference shows and sends: each is accepted as it stands, and a second time, but for the toolset, whose
 * namespace is taken then; the refusal names who has it. Ids are those of the demo agent, which a development server
 * has from its first start; where only a client knows the id, its place in the path stays open.
 */
import type { AgentInput, AgentPatch } from "../../src/agents/agent.ts"
import type { ApiKeyInput } from "../../src/keys/apiKey.ts"
import type { ConnectionInput, ConnectionPatch } from "../../src/connections/connection.ts"
import { demoAgent, demoProfile } from "../../src/domain/demo.ts"
import type { ImageUpload } from "../../src/images/image.ts"
import type { MessageInput } from "../../src/threads/messageInput.ts"
import type { ProfileInput, ProfilePatch } from "../../src/agents/profile.ts"
import { readOnly, type RoleInput, type RolePatch } from "../../src/roles/role.ts"
import type { ScheduleInput } from "../../src/schedules/schedule.ts"
import type { ThreadInput, ThreadPatch } from "../../src/threads/threadInput.ts"
import type { ToolsetInput, ToolsetPatch } from "../../src/toolsets/toolset.ts"
import type { DeliveryDecision, HookWaitDecision, ToolCallResult, WaitResolution } from "../../src/waits/answer.ts"
import type { WebhookInput } from "../../src/webhooks/webhook.ts"
import type { HookSample } from "../hooks/api.ts"
import { hintFrames, oneByOne, threadFrames } from "../streams/examples.ts"

const content: MessageInput["content"] = [{ type: "text", text: "What can you do?" }]

const agentInput: AgentInput = { name: "Guide", profileId: demoProfile, description: "Shows newcomers around" }
const agentPatch: AgentPatch = { description: "Shows everybody around", budget: { limit: 5, window: "24h" } }
const apiKeyInput: ApiKeyInput = { name: "Dashboard", scopes: ["read"] }
const connectionInput: ConnectionInput = {
  provider: "example",
  name: "Tool server",
  secret: { token: "replace-with-a-real-token" },
  allowedHosts: ["tools.example.com"]
}
const connectionPatch: ConnectionPatch = { secret: { token: "replace-with-another-token" } }
const hookSample: typeof HookSample.Type = {
  hook: { name: "Refunds", point: "before_tool_call", match: { tools: ["payments.*"] }, processor: { type: "client" } },
  data: {
    point: "before_tool_call",
    toolCallId: "call_01m7y1svs7e0087pe32vr71000",
    toolName: "payments.refund",
    toolInput: { amount: 75 }
  }
}
const imageUpload: ImageUpload = {
  format: "png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12P4DwABAQEAG7buVgAAAABJRU5ErkJggg=="
}
const messageInput: MessageInput = { content }
const profileInput: ProfileInput = {
  name: "Brief",
  models: ["troupe/scripted"],
  systemPrompt: "Answer in one sentence."
}
const profilePatch: ProfilePatch = { systemPrompt: "Answer in two sentences." }
const roleInput: RoleInput = {
  name: "Support",
  allow: [
    { tools: "tickets.*" },
    { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 50 }] },
    { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 500 }], approval: "required" }
  ],
  deny: [{ tools: "*.delete*" }]
}
const rolePatch: RolePatch = { description: "What the support desk may do" }
const scheduleInput: ScheduleInput = {
  name: "Morning report",
  trigger: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
  target: { mode: "spawn" },
  message: { content: [{ type: "text", text: "What happened since yesterday?" }] }
}
const threadInput: ThreadInput = { agentId: demoAgent, title: "First steps", message: { content } }
const threadPatch: ThreadPatch = { title: "Next steps" }
const toolsetInput: ToolsetInput = {
  kind: "client",
  namespace: "desk",
  tools: [
    {
      name: "print",
      description: "Prints a document at the front desk",
      inputSchema: { type: "object", properties: { document: { type: "string" } }, required: ["document"] }
    }
  ]
}
const toolsetPatch: ToolsetPatch = { description: "What the front desk does", exposure: "search" }
const deliveryDecision: DeliveryDecision = { decision: "allow", reason: "The customer is known" }
const hookWaitDecision: HookWaitDecision = deliveryDecision
const toolCallResult: ToolCallResult = { output: { printed: true } }
const webhookInput: WebhookInput = {
  url: "https://receiver.example.com/troupe",
  events: ["turn.failed", "wait.created"]
}
const waitResolution: WaitResolution = { type: "decision", ...deliveryDecision }

/** By the name of the body's schema. */
export const examples: { readonly [schema: string]: unknown } = {
  AgentInput: agentInput,
  AgentPatch: agentPatch,
  ApiKeyInput: apiKeyInput,
  Cancellation: { clearQueue: false },
  ConnectionInput: connectionInput,
  ConnectionPatch: connectionPatch,
  DeliveryDecision: deliveryDecision,
  EvaluateSample: { sample: { text: "The build is red.", tags: ["build"] } },
  FeedAppend: { messages: [{ text: "The build is green." }] },
  FeedPatch: { description: "What the builds say" },
  HookSample: hookSample,
  ImageUpload: imageUpload,
  HookWaitDecision: hookWaitDecision,
  IdentityChoice: { identity: "guest@example.com" },
  MemoryInput: { value: "Prefers short answers." },
  MessageEdit: { content },
  MessageInput: messageInput,
  OperationDecision: { reason: "Checked with the team" },
  ProfileInput: profileInput,
  ProfilePatch: profilePatch,
  Promotion: { mode: "steer" },
  RoleInput: roleInput,
  RolePatch: rolePatch,
  ScheduleInput: scheduleInput,
  SchedulePatch: { name: "Report on weekdays", jitterSeconds: 60 },
  RoleQuestion: { roleIds: [readOnly.id], tool: "tickets.search", input: { text: "refund" }, readOnly: true },
  SubscriptionPatch: { enabled: false },
  ThreadInput: threadInput,
  ThreadPatch: threadPatch,
  ToolCallResult: toolCallResult,
  ToolsetInput: toolsetInput,
  ToolsetPatch: toolsetPatch,
  ResendInput: { from: "2026-11-01T00:00:00.000Z" },
  RotateWebhookInput: { overlapSeconds: 3_600 },
  WaitResolution: waitResolution,
  WebhookInput: webhookInput,
  WebhookPatch: { description: "Pages who is on call" }
}

/**
 * Of parameters in paths. No operation that ends or changes what it names: the next sample still needs it, as it was.
 */
export const inPath = (method: string, name: unknown): string | undefined =>
  method === "delete" || method === "patch" || typeof name !== "string" ? undefined : known.get(name)

const known: ReadonlyMap<string, string> = new Map([
  ["agentId", demoAgent],
  ["profileId", demoProfile],
  ["version", "1"],
  ["kind", "thread"]
])

/** Of streams: frames in the order in which they come. */
export const streamed = (path: string) => oneByOne(path.startsWith("/v1/threads/") ? threadFrames : hintFrames)
