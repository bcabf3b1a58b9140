/** A new connection: whose server, where to, and the credential. */
import { useMutation } from "@tanstack/react-query"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { useSession } from "../session/Session.tsx"
import { type Kind, kinds, secretOf } from "./secret.ts"
import { SecretBox } from "./SecretBox.tsx"

const fresh = { provider: "", name: "", baseUrl: "", allowedHosts: "", header: "" }
type Field = keyof typeof fresh

const labels: Readonly<Record<Field, string>> = {
  provider: "Provider",
  name: "Name",
  baseUrl: "Address of the server",
  allowedHosts: "Hosts that the secret may be sent to, with commas between; those of the address where this is empty",
  header: "Header that the secret goes into; Authorization where this is empty"
}

const bodyOf = (
  { allowedHosts, baseUrl, header, name, provider }: Record<Field, string>,
  kind: Kind,
  secret: string
) => {
  const hosts = allowedHosts.split(/[\s,]+/).filter((host) => host !== "")
  return {
    provider: provider.trim(),
    name: name.trim(),
    secret: secretOf(kind, secret),
    ...(baseUrl.trim() === "" ? {} : { baseUrl: baseUrl.trim() }),
    ...(hosts.length === 0 ? {} : { allowedHosts: hosts }),
    ...(header.trim() === "" ? {} : { header: header.trim() })
  }
}

const TextBox = ({
  label,
  onTyped,
  value
}: {
  readonly label: string
  readonly value: string
  readonly onTyped: (value: string) => void
}) => {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input id={id} value={value} spellCheck={false} onChange={(event) => onTyped(event.target.value)} />
    </>
  )
}

export const NewConnection = ({ onMade }: { readonly onMade: () => void }) => {
  const { troupe } = useSession()
  const kindId = useId()
  const [fields, setFields] = useState(fresh)
  const [kind, setKind] = useState<Kind>("apiKey")
  const [secret, setSecret] = useState("")
  const create = useMutation({
    mutationFn: () => answerOf(troupe.api.POST("/v1/connections", { body: bodyOf(fields, kind, secret) })),
    onSuccess: () => {
      setFields(fresh)
      setSecret("")
      onMade()
    }
  })
  const boxOf = (field: Field) => (
    <TextBox label={labels[field]} value={fields[field]} onTyped={(text) => setFields({ ...fields, [field]: text })} />
  )
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      {boxOf("provider")}
      {boxOf("name")}
      <label htmlFor={kindId}>Kind</label>
      <select
        id={kindId}
        value={kind}
        onChange={({ target: { value } }) => setKind(value === "token" || value === "signing" ? value : "apiKey")}
      >
        {Object.entries(kinds).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <SecretBox label="Secret" value={secret} onTyped={setSecret} />
      {boxOf("baseUrl")}
      {boxOf("allowedHosts")}
      {boxOf("header")}
      <div className="buttons">
        <Gated
          scope="admin"
          type="submit"
          className="primary"
          disabled={fields.provider.trim() === "" || fields.name.trim() === "" || secret === "" || create.isPending}
        >
          Create
        </Gated>
        {create.isSuccess ? <span role="status">Created.</span> : null}
      </div>
      {create.error === null ? null : <Failure failure={create.error} />}
    </form>
  )
}
