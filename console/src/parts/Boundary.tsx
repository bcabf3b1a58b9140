/**
 * What throws while it is drawn takes its own place, and nothing beside it: there stand the failure in words and, as it
 * came, what was to be drawn. What is new of it is drawn anew.
 */
import { Component, type ReactNode } from "react"
import { failureText } from "./Failure.tsx"
import { Json } from "./Json.tsx"

interface Props {
  /** In a sentence: "this message". */
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
