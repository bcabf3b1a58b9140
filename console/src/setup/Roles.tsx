/** The roles of the workspace, and what they say of a call. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { read } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"

const path = "/v1/roles"

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

const Explain = () => {
  const { troupe } = useSession()
  const ids = { whose: useId(), tool: useId(), input: useId() }
  const [whose, setWhose] = useState("")
  const [tool, setTool] = useState("")
  const [input, setInput] = useState("")
  const [readOnly, setReadOnly] = useState(false)
  const given = read(input)
  const names = whose.split(/[\s,]+/).filter((name) => name !== "")
  const [first = ""] = names
  const explain = useMutation({
    mutationFn: async () => {
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
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        explain.mutate()
      }}
    >
      <label htmlFor={ids.whose}>Profile, or roles</label>
      <input
        id={ids.whose}
        placeholder="prof_… or role_…, all_tools"
        value={whose}
        spellCheck={false}
        onChange={(event) => setWhose(event.target.value)}
      />
      <label htmlFor={ids.tool}>Tool</label>
      <input
        id={ids.tool}
        placeholder="namespace.tool"
        value={tool}
        spellCheck={false}
        onChange={(event) => setTool(event.target.value)}
      />
      <label htmlFor={ids.input}>Input, as YAML or JSON</label>
      <textarea
        id={ids.input}
        className="code"
        rows={3}
        value={input}
        spellCheck={false}
        onChange={(event) => setInput(event.target.value)}
      />
      {"problem" in given ? (
        <p role="alert" className="problem">
          {given.problem}
        </p>
      ) : null}
      <label className="check">
        <input type="checkbox" checked={readOnly} onChange={(event) => setReadOnly(event.target.checked)} />
        its server marks it as read-only
      </label>
      <div className="buttons">
        <Gated
          scope="read"
          type="submit"
          className="primary"
          disabled={names.length === 0 || tool.trim() === "" || "problem" in given || explain.isPending}
        >
          Explain
        </Gated>
      </div>
      {explain.error === null ? null : <Failure failure={explain.error} />}
      {explain.data === undefined ? null : <Decision of={explain.data} />}
    </form>
  )
}

export const Roles = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <Page title="Roles" path={path}>
      <Listing
        label="Roles"
        empty="There is no role."
        queryKey={["roles"]}
        ask={async (query, signal) => {
          const { nextCursor, roles } = await answerOf(troupe.api.GET("/v1/roles", { params: { query }, signal }))
          return { rows: roles, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/roles/$roleId" params={{ roleId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Id", cell: ({ id }) => <code>{id}</code> },
          { name: "Allows", cell: ({ allow }) => allow.length },
          { name: "Denies", cell: ({ deny }) => deny.length },
          { name: "Changed", cell: ({ builtIn, updatedAt }) => (builtIn ? "built in" : <Time at={updatedAt} />) }
        ]}
      />
      <h2>Explain a decision</h2>
      <Explain />
      <Fold label="New role">
        <YamlEditor
          isNew
          label="Role, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ name: "", allow: [{ tools: "thread.*" }], deny: [] }}
          save={async (body) => {
            const answer = await troupe.send("POST", path, { body })
            void queries.invalidateQueries({ queryKey: ["roles"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
