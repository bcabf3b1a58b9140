/** A text of YAML to change: CodeMirror, which comes only with a page that has one. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { yaml } from "@codemirror/lang-yaml"
import { indentUnit, syntaxHighlighting } from "@codemirror/language"
import { Annotation, EditorState, StateEffect, StateField } from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers
} from "@codemirror/view"
import { classHighlighter } from "@lezer/highlight"
import { useEffect, useEffectEvent, useRef } from "react"
import "./yamlBox.css"

/** Of a text that is shown, not typed. */
const shown = Annotation.define<true>()

const mark = StateEffect.define<number | undefined>()

/** The line that is wrong, until the text changes. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, { docChanged, effects, newDoc }) => {
    const last = effects.findLast((effect) => effect.is(mark))
    if (last === undefined) return docChanged ? Decoration.none : before
    const line = last.value
    return line === undefined || line > newDoc.lines
      ? Decoration.none
      : Decoration.set([Decoration.line({ class: "wrong" }).range(newDoc.line(line).from)])
  },
  provide: (field) => EditorView.decorations.from(field)
})

/** The page's own: without it the policy refuses the editor's styles. */
const nonce = () => document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ""

const extensions = (labelId: string, onText: (text: string) => void) => [
  EditorView.cspNonce.of(nonce()),
  history(),
  keymap.of([...defaultKeymap, ...historyKeymap]),
  lineNumbers(),
  // Whatever turns the direction of a text, or cannot be seen, is shown.
  highlightSpecialChars(),
  yaml(),
  syntaxHighlighting(classHighlighter),
  indentUnit.of("  "),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-labelledby": labelId }),
  marked,
  EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    if (docChanged && !transactions.some((change) => change.annotation(shown))) onText(state.doc.toString())
  })
]

export interface YamlBoxProps {
  readonly labelId: string
  readonly text: string
  /** From 1. */
  readonly wrongLine: number | undefined
  readonly onText: (text: string) => void
}

export const YamlBox = ({ labelId, onText, text, wrongLine }: YamlBoxProps) => {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const first = useRef(text)
  /** What was typed, and comes back as `text` perhaps after more was typed: it must not take the place of that. */
  const typed = useRef(new Set<string>())
  const tell = useEffectEvent((written: string) => {
    typed.current.add(written)
    onText(written)
  })

  useEffect(() => {
    if (place.current === null) return
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: first.current, extensions: extensions(labelId, (written) => tell(written)) })
    })
    view.current = made
    return () => made.destroy()
  }, [labelId])

  // What is shown may be read anew.
  useEffect(() => {
    const { doc } = view.current?.state ?? {}
    if (doc === undefined) return
    if (doc.toString() === text) return typed.current.clear()
    if (typed.current.has(text)) return
    view.current?.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: shown.of(true) })
  }, [text])

  useEffect(() => {
    const { state } = view.current ?? {}
    if (state === undefined) return
    const isThere = wrongLine !== undefined && wrongLine <= state.doc.lines
    view.current?.dispatch({
      effects: [
        mark.of(wrongLine),
        ...(isThere ? [EditorView.scrollIntoView(state.doc.line(wrongLine).from, { y: "center" })] : [])
      ]
    })
  }, [wrongLine])

  return <div className="yaml" ref={place} />
}
