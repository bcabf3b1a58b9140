/** A chart as the build has laid it out (console/chartLayouts.ts). Lengths are those of the picture. */

export interface DrawnState {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly hasParts: boolean
  /** Ids of its transitions that leave no state. */
  readonly stays: ReadonlyArray<string>
}

export interface DrawnLine {
  readonly source: string
  readonly target: string
  /** Ids of the transitions that it stands for. */
  readonly transitions: ReadonlyArray<string>
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  /** What its transitions mean, one a line. */
  readonly description: string
  readonly label: string
  readonly labelAt: readonly [x: number, y: number]
}

export interface Drawing {
  /** Of the chart that it was made from, as `/v1/charts/{kind}` has it. */
  readonly version: string
  readonly width: number
  readonly height: number
  readonly states: ReadonlyArray<DrawnState>
  readonly lines: ReadonlyArray<DrawnLine>
}
