/** Images of an agent: uploaded, listed, and looked at. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useId, useMemo, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { failureOf } from "../../../src/client/errors.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Time } from "../parts/Time.tsx"
import { useSession } from "../session/Session.tsx"
import "./images.css"

const formats = ["png", "jpeg", "gif", "webp"] as const

/** As the picker knows files; the server looks at the bytes. */
const formatOf = ({ type }: File) => formats.find((format) => type === `image/${format}`)

const base64Of = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""))
    reader.onerror = () => reject(reader.error ?? new Error("The file cannot be read."))
    reader.readAsDataURL(file)
  })

const Upload = ({ agentId }: { readonly agentId: string }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const id = useId()
  const [file, setFile] = useState<File>()
  const upload = useMutation({
    mutationFn: async (chosen: File) => {
      const format = formatOf(chosen)
      if (format === undefined) throw new Error("Images are png, jpeg, gif or webp.")
      const body = { format, data: await base64Of(chosen) }
      return answerOf(troupe.api.POST("/v1/agents/{agentId}/images", { params: { path: { agentId } }, body }))
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["images", agentId] })
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        if (file !== undefined) upload.mutate(file)
      }}
    >
      <label htmlFor={id}>New image</label>
      <input
        id={id}
        type="file"
        accept={formats.map((format) => `image/${format}`).join(",")}
        onChange={(event) => {
          upload.reset()
          setFile(event.target.files?.[0])
        }}
      />
      <div className="buttons">
        <Gated scope="run" type="submit" className="primary" disabled={file === undefined || upload.isPending}>
          Upload
        </Gated>
        {upload.isSuccess ? <span role="status">Uploaded: {upload.data.image.id}</span> : null}
      </div>
      {upload.error === null ? null : <Failure failure={upload.error} />}
    </form>
  )
}

/** The bytes come with the key, which an address of an image would not bring along. */
const Preview = ({ imageId }: { readonly imageId: string }) => {
  const { troupe } = useSession()
  const bytes = useQuery({
    queryKey: ["image", imageId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await troupe.open(`/v1/images/${encodeURIComponent(imageId)}`, { signal })
      if (!response.ok) throw await failureOf(response)
      return response.blob()
    }
  })
  const url = useMemo(() => (bytes.data === undefined ? undefined : URL.createObjectURL(bytes.data)), [bytes.data])
  useEffect(
    () => () => {
      if (url !== undefined) URL.revokeObjectURL(url)
    },
    [url]
  )
  if (bytes.error !== null) return <Failure failure={bytes.error} retry={() => void bytes.refetch()} />
  return url === undefined ? <p className="quiet">Looking…</p> : <img className="preview" src={url} alt={imageId} />
}

export const Images = ({ agentId }: { readonly agentId: string }) => {
  const { troupe } = useSession()
  const [shown, setShown] = useState<string>()
  return (
    <>
      <Listing
        label="Images"
        empty="It has no images."
        queryKey={["images", agentId]}
        ask={async (query, signal) => {
          const { images, nextCursor } = await answerOf(
            troupe.api.GET("/v1/agents/{agentId}/images", { params: { path: { agentId }, query }, signal })
          )
          return { rows: images, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Id",
            cell: ({ id }) => (
              <button type="button" className="link" onClick={() => setShown(id)}>
                <code>{id}</code>
              </button>
            )
          },
          { name: "Format", cell: ({ format }) => format },
          { name: "Pixels", cell: ({ height, width }) => `${width} × ${height}` },
          { name: "Bytes", cell: ({ bytes }) => bytes.toLocaleString("en") },
          { name: "Uploaded", cell: ({ createdAt }) => <Time at={createdAt} /> }
        ]}
      />
      {shown === undefined ? null : <Preview key={shown} imageId={shown} />}
      <Upload agentId={agentId} />
    </>
  )
}
