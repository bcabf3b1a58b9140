/** What has a chart: the kinds of actors, and of a thread's turn its calls and its chains of hooks. */
export const chartKinds = ["thread", "call", "hooks", "identity", "schedule", "subscription"] as const
export type ChartKind = (typeof chartKinds)[number]
