/**
 * Keeps a failure of rendering to its own place: the failure in words and the value as JSON stand there, and everything
 * beside it goes on. Another value is rendered anew.
 */
import { Component, type ReactNode } from "react"
import { failureText } from "./Failure.tsx"
import { Json } from "./Json.tsx"

interface Props {
  /** Names the value in a sentence: "event 7". */
  readonly what: string
  readonly value: unknown
  readonly children: ReactNode
}

interface State {
  readonly value: unknown
  readonly broken?: { readonly failure: unknown }
}

export class Boundary extends Component<Props, State> {
  override readonly state: State = { value: this.props.value }

  static getDerivedStateFromError = (failure: unknown): Pick<State, "broken"> => ({ broken: { failure } })

  static getDerivedStateFromProps = ({ value }: Props, before: State): State | null =>
    value === before.value ? null : { value }

  override render() {
    const { children, value, what } = this.props
    const { broken } = this.state
    return broken === undefined ? (
      children
    ) : (
      <div className="card">
        <p className="problem">
          The console cannot show {what}: {failureText(broken.failure)}
        </p>
        <Json label={`What came of ${what}`} value={value} />
      </div>
    )
  }
}
