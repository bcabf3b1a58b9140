/** Columns of the configuration tables (migration 2), as queries see them. JSON columns are written as text. */
import type { ColumnType, Generated } from "kysely"

type Json = ColumnType<unknown, string, string>
type NullableJson = ColumnType<unknown, string | null, string | null>

export interface ConfigurationTables {
  profiles: { workspace: string; id: string; version: number; created_at: Date; archived_at: Date | null }
  profile_versions: { workspace: string; profile: string; version: number; body: Json; created_at: Date }
  agents: {
    workspace: string
    id: string
    profile: string
    profile_version: number | null
    identity: string | null
    body: Json
    rev: number
    created_at: Date
    updated_at: Date
    archived_at: Date | null
  }
  api_keys: {
    workspace: string
    id: string
    public: string
    hash: string
    name: string
    kind: Generated<string>
    scopes: Array<string>
    identity: string | null
    created_at: Date
    created_by: NullableJson
    expires_at: Date | null
    last_used_at: Date | null
    revoked_at: Date | null
    trigger: NullableJson
    first: string | null
  }
  identities: { workspace: string; identity: string; actor: string; first_seen: Date; last_seen: Date }
  operations: {
    workspace: string
    id: string
    action: string
    agent: string | null
    state: string
    requested_by: Json
    created_at: Date
    expires_at: Date
    resolved_at: Date | null
    resolved_by: NullableJson
    status: number | null
    body: NullableJson
    /** These four are of one that parked; the last is the key, or the agent of the lease, that asked. */
    request: NullableJson
    requester: NullableJson
    fingerprint: string | null
    credential: string | null
  }
  approval_policies: { workspace: string; rules: Json; rev: number; updated_at: Date; updated_by: Json }
}
