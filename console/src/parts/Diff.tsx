/** What changes between two texts, line by line. */
import { Scroll } from "./Scroll.tsx"
import { visible } from "./visible.ts"

type Change = readonly [sign: " " | "+" | "-", line: string]

/** By the longest common subsequence of lines; of very long texts only the parts that differ at both ends. */
export const changesOf = (before: string, after: string): ReadonlyArray<Change> => {
  const a = before.split("\n")
  const b = after.split("\n")
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const left = a.slice(start, a.length - end)
  const right = b.slice(start, b.length - end)
  return [
    ...a.slice(0, start).map((line): Change => [" ", line]),
    ...between(left, right),
    ...a.slice(a.length - end).map((line): Change => [" ", line])
  ]
}

const mostCells = 1_000_000

const between = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<Change> => {
  const whole: ReadonlyArray<Change> = [
    ...left.map((line): Change => ["-", line]),
    ...right.map((line): Change => ["+", line])
  ]
  if (left.length * right.length > mostCells) return whole
  const width = right.length + 1
  const lengths = new Uint32Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        left[i] === right[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
  const changes: Array<Change> = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    const [one, other] = [left[i], right[j]]
    if (one !== undefined && one === other) {
      changes.push([" ", one])
      i++
      j++
    } else if (
      other !== undefined &&
      (one === undefined || (lengths[i * width + j + 1] ?? 0) > (lengths[(i + 1) * width + j] ?? 0))
    ) {
      changes.push(["+", other])
      j++
    } else if (one !== undefined) {
      changes.push(["-", one])
      i++
    }
  }
  return changes
}

export const Diff = ({ after, before }: { readonly before: string; readonly after: string }) => {
  const changes = changesOf(before, after)
  if (changes.every(([sign]) => sign === " ")) return <p className="quiet">Nothing is changed.</p>
  return (
    <Scroll className="code-box diff" label="What changes">
      <pre>
        {changes.map(([sign, line], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
          <span key={index} className={sign === "+" ? "added" : sign === "-" ? "removed" : ""}>
            {`${sign} ${visible(line)}\n`}
          </span>
        ))}
      </pre>
    </Scroll>
  )
}
