/** Rows under headings. What does not fit scrolls within the table. */
import type { ReactNode } from "react"
import { Scroll } from "./Scroll.tsx"

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
}

export const Table = <Row,>({
  columns,
  keyOf,
  label,
  rows
}: {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly columns: ReadonlyArray<Column<Row>>
}) => (
  <Scroll className="table" label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ cell, name }) => (
              <td key={name}>{cell(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)
