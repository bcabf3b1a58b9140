/**
 * Every number that the contract holds clients to, in one place: the table of docs/contract.md, from contract C25.1 on.
 */

/** Rows of a page by default, and at most. */
export const pages = {
  events: [100, 200],
  operations: [100, 200],
  hookDecisions: [100, 200],
  usage: [100, 200],
  memoryVersions: [100, 200],
  memoryEntries: [50, 200],
  threads: [50, 200],
  turns: [50, 200],
  agents: [50, 200],
  images: [50, 200],
  profiles: [50, 200],
  roles: [50, 200],
  toolsets: [50, 200],
  toolCalls: [50, 200],
  connections: [50, 200],
  identities: [50, 200],
  models: [50, 200],
  keys: [50, 200],
  feeds: [50, 200],
  webhooks: [50, 200],
  webhookDeliveries: [100, 200],
  feedMessages: [100, 200],
  schedules: [20, 100],
  scheduleRuns: [100, 200],
  subscriptions: [50, 200],
  evaluations: [100, 200],
  actorSteps: [200, 200]
} as const

export const limits = {
  identityBytes: 512,
  tagsPerAgent: 32,
  tagBytes: 64,
  agentNameChars: 128,
  agentDescriptionBytes: 4096,
  avatarBytes: 2048,
  modelSelectors: 8,
  selectorChars: 512,
  systemPromptBytes: 4096,
  /** Of a response, as a profile may set it. */
  outputTokens: 1_000_000,
  /** Bounds of a turn that a profile may set. */
  turn: {
    maxSteps: { most: 1000, usual: 50 },
    maxTurnSeconds: { most: 86_400, usual: 3600 },
    maxParallelTools: { most: 64, usual: 8 }
  },
  /** Rounds of compaction before one model call. */
  buildRounds: 8,
  summaryPreviewBytes: 1024,
  compaction: {
    triggerRatio: { least: 0.1, most: 0.95, usual: 0.8 },
    keepTurns: { most: 20, usual: 2 },
    instructionsBytes: 4096
  },
  contentBlocks: 40,
  imageBlocks: 20,
  imageBytes: 10 * 1024 * 1024,
  /** Pixels. */
  imageSide: 8_000,
  imageMegapixels: 50,
  /** Of an upload as JSON: the bytes as base64, and what stands around them. */
  uploadBytes: 14 * 1024 * 1024,
  uploadsAtOnce: 8,
  messageBytes: 512 * 1024,
  userTextBytes: 8 * 1024,
  assistantTextBytes: 64 * 1024,
  originBytes: 512,
  triggerAgents: 64,
  triggerFeeds: 64,
  /** How long a key that was replaced goes on beside the new one. */
  keyOverlapSeconds: { most: 604_800, usual: 86_400 },
  leaseSeconds: 900,
  failureDetailsBytes: 4096,
  threadTitleChars: 200,
  metadataPairs: 16,
  metadataKeyChars: 64,
  metadataValueChars: 512,
  pendingInputs: 100,
  pageBytes: 4 * 1024 * 1024,
  cursorChars: 2048,
  /** How long a long poll may ask to wait. */
  eventsWaitSeconds: 30,
  operationWaitSeconds: 60,
  operationReasonBytes: 1024,
  approvalRules: 64,
  ruleActions: 32,
  ruleAgents: 64,
  /** Requests of a workspace that wait for approval. */
  pendingOperations: 1000,
  /** How long a resolved operation is kept. */
  operationDays: 90,
  /** Days that usage is summed over at once. */
  usageDays: 366,
  /** Keys are told apart by their bytes. */
  memoryKeyBytes: 512,
  /** After JSON decoding. */
  memoryValueBytes: 40 * 1024,
  /** Of one store. */
  memoryEntries: 10_000,
  /** Newest versions of an entry that are kept. */
  memoryVersions: 100,
  /** How long a deleted entry's versions are kept. */
  memoryDeletedDays: 30,
  memorySearchBytes: 512,
  memorySearch: { most: 50, usual: 10 },
  /** Of a workspace, that are not archived. */
  feeds: 10_000,
  feedNameChars: 128,
  feedDescriptionBytes: 4096,
  /** Of a feed, and of a message. */
  feedTags: 16,
  feedMaxMessages: 10_000_000,
  feedMaxAgeSeconds: { least: 60, most: 315_360_000 },
  feedAppendMessages: 100,
  feedTextBytes: 32 * 1024,
  /** As JSON. */
  feedDataBytes: 8 * 1024,
  /** Text and tags of all messages of an append. */
  feedAppendBytes: 256 * 1024,
  /** Of a request that appends. */
  feedBodyBytes: 4 * 1024 * 1024,
  dedupeKeyChars: 255,
  dedupeHours: 24,
  feedTail: 10_000,
  subscriptionsPerFeed: 1000,
  subscriptionsPerAgent: 100,
  subscriptionNameChars: 120,
  subscriptionIntentBytes: 4096,
  cronChars: 256,
  timezoneChars: 64,
  celBytes: 1024,
  celNodes: 256,
  screenInstructionsBytes: 4096,
  windowSeconds: { least: 30, most: 86_400 },
  /** Messages that a subscription hands over at once. */
  batchMessages: 1000,
  /** Of a message's text in what is handed over. */
  batchTextBytes: 2 * 1024,
  /** Turns that lead to each other by way of feeds; messages with more hops are passed over. */
  feedHops: 8,
  /** How long what was escalated, dismissed or failed is listed. */
  evaluationDays: 90,
  feedWaitSeconds: 30,
  /** Of an agent, that are not deleted. */
  schedules: 100,
  scheduleNameChars: 120,
  /** Seconds. */
  scheduleIntervalSeconds: { least: 60, most: 31_536_000 },
  scheduleCatchUpSeconds: { least: 10, most: 31_536_000, usual: 3_600 },
  scheduleJitterSeconds: { least: 0, most: 3_600 },
  scheduleFailures: 5,
  scheduleRunDays: 90,
  bodyBytes: 1024 * 1024,
  jsonDepth: 64,
  /** Of one object. */
  jsonFields: 10_000,
  toolOutputBytes: 256 * 1024,
  idempotencyKeyChars: 255,
  idempotencyHours: 24,
  hooksPerProfile: 16,
  /** [ext] Turns of a workspace that stand in line for a slot on one node. */
  turnsInLine: 1_000,
  rolesPerProfile: 8,
  toolsetsPerProfile: 64,
  rolesPerWorkspace: 64,
  roleNameChars: 64,
  grantsPerRole: 32,
  conditions: 8,
  conditionPathBytes: 512,
  conditionValueBytes: 512,
  toolSelectorBytes: 176,
  namespaceChars: 32,
  toolsetUrlBytes: 2048,
  providerChars: 64,
  /** [ext] Of a token or API key; a header holds it. */
  connectionSecretChars: 8192,
  /** [ext] Of the name of the header that a secret goes into. */
  secretHeaderChars: 64,
  /** [ext] Hosts that a connection's secret may be sent to. */
  allowedHosts: 32,
  /** [ext] Tools that a toolset offers, and the text of all of them together. */
  toolsPerToolset: 512,
  catalogueBytes: 1024 * 1024,
  clientToolSchemaBytes: 16 * 1024,
  /** [ext] Input or output schema of a tool of an MCP server. */
  mcpToolSchemaBytes: 64 * 1024,
  toolDescriptionBytes: 4096,
  toolTitleBytes: 256,
  toolNameChars: 128,
  /** Of a tool that is asked about: longer than any that exists. */
  askedToolBytes: 512,
  /**
   * [ext] How long a call of an MCP tool may take without a word, how many times that in all, and a probe of its
   * server.
   */
  mcpCallMs: { least: 1_000, most: 86_400_000, usual: 60_000 },
  mcpProgressTimes: 10,
  /** [ext] Of what a server says of its progress. */
  progressMessageChars: 1_000,
  mcpProbeMs: 10_000,
  clientToolTimeoutMs: { least: 10_000, most: 86_400_000, usual: 3_600_000 },
  hookTimeoutMs: { url: 30_000, agent: 300_000 },
  hookAsyncTimeoutMs: { most: 86_400_000, client: 86_400_000, other: 3_600_000 },
  /** How long an approval that a role requires stays open. */
  roleApprovalMs: 86_400_000,
  /** Least of both timeouts of a hook. */
  hookLeastMs: 1_000,
  hookInstructionsBytes: 4096,
  hookSelectors: 32,
  hookReasonBytes: 1024,
  hookAnswerBytes: 64 * 1024,
  /** [ext] What a client says of a call that failed. */
  toolErrorCodeChars: 64,
  toolErrorBytes: 4096,
  revealedFamilies: 16,
  revealedTools: 10,
  /** [ext] Tools of toolsets that a thread may have revealed in all. */
  revealedPerThread: 256,
  /** [ext] States of a pattern in a condition; repeats count as often as they may repeat. */
  celPatternStates: 1000,
  /** [ext] Threads that are looked at for a page of those of one status. */
  threadsLookedAt: 5000,
  /** [ext] Events that are looked at for a page of turns, unless one turn has more. */
  turnEventsLookedAt: 5000,
  /** [ext] Questions of one agent to another that lead to a thread, one after the other. */
  askDepth: 4,
  /** [ext] Of what is looked for with tool_search. */
  searchChars: 512,
  /** [ext] Webhooks of a workspace. */
  webhooks: 20,
  /** [ext] Of what a webhook is for. */
  webhookDescriptionBytes: 4096,
  /** [ext] How long an endpoint may take. */
  webhookMs: 15_000,
  /** [ext] How often an event is sent to an endpoint that does not take it. */
  webhookAttempts: 10,
  /** [ext] Failed attempts in a row that disable a webhook, and how long ago the first of them is then. */
  webhookFailures: 20,
  webhookFailingSeconds: 86_400,
  /** [ext] How long the secret before signs beside a new one: most, and unless said. */
  webhookOverlapSeconds: { most: 604_800, usual: 86_400 },
  /** [ext] How long deliveries are listed. */
  webhookDays: 30,
  /** [ext] How long an endpoint may put an attempt off by Retry-After. */
  webhookRetryAfterSeconds: 86_400
} as const
