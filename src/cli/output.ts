/** How commands print: JSON for programs, aligned columns for people. */
import { Console } from "effect"
import { Flag } from "effect/cli"
import { printableJson, printable } from "./printable.ts"

const formats = ["table", "json"] as const
export type Output = (typeof formats)[number]

export const output = Flag.Literals("output", formats).pipe(
  Flag.withAlias("o"),
  Flag.withDefault("table"),
  Flag.withDescription("How to print")
)

export const table = (columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const all = [
    columns.map((c) => c.toUpperCase()),
    ...rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, " ")))
  ]
  const widths = columns.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, i) => (i === columns.length - 1 ? cell : cell.padEnd(widths[i]!)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

export const print = (
  format: Output,
  value: unknown,
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
) => Console.log(format === "json" ? printableJson(value) : rows.length === 0 ? "none" : table(columns, rows))
