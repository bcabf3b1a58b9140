/** Every migration in its order: one file each, never edited after release, only added. */
import type { Migration } from "kysely/migration"
import * as journal from "./001_journal.ts"
import * as configuration from "./002_configuration.ts"
import * as tools from "./003_tools.ts"
import * as cluster from "./004_cluster.ts"
import * as obligations from "./005_obligations.ts"
import * as agenda from "./006_agenda.ts"
import * as connections from "./007_connections.ts"
import * as lineage from "./008_lineage.ts"
import * as quotas from "./009_quotas.ts"
import * as operations from "./010_operations.ts"
import * as keys from "./011_keys.ts"
import * as budgets from "./012_budgets.ts"
import * as usage from "./013_usage.ts"
import * as memory from "./014_memory.ts"
import * as images from "./015_images.ts"
import * as feeds from "./016_feeds.ts"
import * as archive from "./017_archive.ts"
import * as schedules from "./018_schedules.ts"
import * as subscriptions from "./019_subscriptions.ts"
import * as webhooks from "./020_webhooks.ts"
import * as cause from "./021_cause.ts"
import * as rotation from "./022_rotation.ts"
import * as imageNames from "./023_image_names.ts"
import * as spendTotals from "./024_spend_totals.ts"
import * as toldSubscribers from "./025_told_subscribers.ts"
import * as readableBudgets from "./026_readable_budgets.ts"
import * as unarchivedThreads from "./027_unarchived_threads.ts"

export const migrations: Record<string, Migration> = {
  "001_journal": journal,
  "002_configuration": configuration,
  "003_tools": tools,
  "004_cluster": cluster,
  "005_obligations": obligations,
  "006_agenda": agenda,
  "007_connections": connections,
  "008_lineage": lineage,
  "009_quotas": quotas,
  "010_operations": operations,
  "011_keys": keys,
  "012_budgets": budgets,
  "013_usage": usage,
  "014_memory": memory,
  "015_images": images,
  "016_feeds": feeds,
  "017_archive": archive,
  "018_schedules": schedules,
  "019_subscriptions": subscriptions,
  "020_webhooks": webhooks,
  "021_cause": cause,
  "022_rotation": rotation,
  "023_image_names": imageNames,
  "024_spend_totals": spendTotals,
  "025_told_subscribers": toldSubscribers,
  "026_readable_budgets": readableBudgets,
  "027_unarchived_threads": unarchivedThreads
}
