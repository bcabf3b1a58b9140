/** All tables, one interface a room: a migration that adds tables adds its interface here. */
import type { ConfigurationTables } from "./configurationTables.ts"
import type { FeedTables } from "./feedTables.ts"
import type { JournalTables } from "./journalTables.ts"
import type { MemoryTables } from "./memoryTables.ts"
import type { ScheduleTables } from "./scheduleTables.ts"
import type { ToolTables } from "./toolTables.ts"
import type { WebhookTables } from "./webhookTables.ts"

export interface Tables
  extends JournalTables,
    ConfigurationTables,
    FeedTables,
    ScheduleTables,
    ToolTables,
    MemoryTables,
    WebhookTables {}
