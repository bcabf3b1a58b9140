/** What the roles of the workspace say of a call. */
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Table } from "../parts/Table.tsx"
import { visible } from "../parts/visible.ts"
import { read } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"

const Decision = ({ of }: { readonly of: components["schemas"]["RoleDecision"] }) => (
  <section className="card" aria-label="What the roles say">
    <p>
      <strong>{of.decision}</strong>
      {of.approval === undefined ? "" : ", with a person's approval"}: {visible(of.reason)}
    </p>
    {of.matched.length === 0 ? null : (
      <Table
        label="What is about the call"
        rows={of.matched}
        keyOf={({ index, list, roleId }) => `${roleId} ${list} ${index}`}
        columns={[
          {
            name: "Role",
            cell: ({ roleId }) => (
              <Link to="/roles/$roleId" params={{ roleId }}>
                {roleId}
              </Link>
            )
          },
          { name: "List", cell: ({ index, list }) => `${list} ${index}` },
          { name: "Approval", cell: ({ approval }) => approval ?? "" },
          { name: "Decides", cell: ({ roleId }) => (roleId === of.by ? "yes" : "") }
        ]}
      />
    )}
  </section>
)

const fresh = { whose: "", tool: "", input: "", readOnly: false }
type Asked = typeof fresh

const useExplain = ({ input, readOnly, tool, whose }: Asked) => {
  const { troupe } = useSession()
  const given = read(input)
  const names = whose.split(/[\s,]+/).filter((name) => name !== "")
  const [first = ""] = names
  const explain = useMutation({
    mutationFn: () => {
      const asked = {
        tool: tool.trim(),
        readOnly,
        ...("value" in given && input.trim() !== "" ? { input: given.value } : {})
      }
      return answerOf(
        troupe.api.POST("/v1/roles/evaluate", {
          body: first.startsWith("prof_") ? { ...asked, profileId: first } : { ...asked, roleIds: names }
        })
      )
    }
  })
  return {
    explain,
    problem: "problem" in given ? given.problem : undefined,
    isReady: names.length > 0 && tool.trim() !== "" && "value" in given && !explain.isPending
  }
}

const AskedOf = ({ asked, onTyped }: { readonly asked: Asked; readonly onTyped: (typed: Partial<Asked>) => void }) => {
  const ids = { whose: useId(), tool: useId(), input: useId() }
  return (
    <>
      <label htmlFor={ids.whose}>Profile, or roles</label>
      <input
        id={ids.whose}
        placeholder="prof_… or role_…, all_tools"
        value={asked.whose}
        spellCheck={false}
        onChange={(event) => onTyped({ whose: event.target.value })}
      />
      <label htmlFor={ids.tool}>Tool</label>
      <input
        id={ids.tool}
        placeholder="namespace.tool"
        value={asked.tool}
        spellCheck={false}
        onChange={(event) => onTyped({ tool: event.target.value })}
      />
      <label htmlFor={ids.input}>Input, as YAML or JSON</label>
      <textarea
        id={ids.input}
        className="code"
        rows={3}
        value={asked.input}
        spellCheck={false}
        onChange={(event) => onTyped({ input: event.target.value })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={asked.readOnly}
          onChange={(event) => onTyped({ readOnly: event.target.checked })}
        />
        its server marks it as read-only
      </label>
    </>
  )
}

export const Explain = () => {
  const [asked, setAsked] = useState(fresh)
  const { explain, isReady, problem } = useExplain(asked)
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        explain.mutate()
      }}
    >
      <AskedOf asked={asked} onTyped={(typed) => setAsked({ ...asked, ...typed })} />
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <div className="buttons">
        <Gated scope="read" type="submit" className="primary" disabled={!isReady}>
          Explain
        </Gated>
      </div>
      {explain.error === null ? null : <Failure failure={explain.error} />}
      {explain.data === undefined ? null : <Decision of={explain.data} />}
    </form>
  )
}
