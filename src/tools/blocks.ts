/**
 * Content blocks of the Model Context Protocol, as tools answer with them: what bytes they hold, and how they are named
 * in words.
 */
import { isJsonObject, type JsonObject } from "../domain/jsonValue.ts"
import { utf8Bytes } from "../domain/text.ts"

export type Block = JsonObject & { readonly type: string }

const media = new Set(["image", "audio"])

const textAt = (value: JsonObject, field: string) => (typeof value[field] === "string" ? value[field] : undefined)

/** What a resource's block is about. */
const resourceOf = (block: Block) =>
  block.type === "resource" && isJsonObject(block.resource) ? block.resource : undefined

const isBlock = (value: unknown): value is Block => {
  if (!isJsonObject(value)) return false
  const { data, resource, text, type, uri } = value
  switch (type) {
    case "text":
      return typeof text === "string"
    case "image":
    case "audio":
      return typeof data === "string" || value.truncated === true
    case "resource":
      return isJsonObject(resource) && typeof resource.uri === "string"
    case "resource_link":
      return typeof uri === "string"
    default:
      return false
  }
}

/** Whether it is a list of blocks, and of nothing else. */
export const isBlocks = (value: unknown): value is ReadonlyArray<Block> =>
  Array.isArray(value) && value.length > 0 && value.every(isBlock)

/** How many bytes a base64 text stands for. */
const decodedBytes = (base64: string) =>
  Math.max(0, Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0))

/** The same without its bytes, of which it says how many there were. A block without bytes stays as it is. */
export const withoutBytes = (block: Block): Block => {
  const { data, ...rest } = block
  if (media.has(block.type) && typeof data === "string")
    return { ...rest, type: block.type, truncated: true, bytes: decodedBytes(data) }
  const resource = resourceOf(block)
  if (typeof resource?.blob !== "string") return block
  const { blob, ...about } = resource
  return { ...block, resource: { ...about, truncated: true, bytes: decodedBytes(resource.blob) } }
}

/** As the program's own count, or the server's word for it. */
const sizeOf = (of: JsonObject, bytes: string | undefined) => {
  const size = bytes === undefined ? (of.bytes ?? of.size) : decodedBytes(bytes)
  return typeof size === "number" ? `${size} bytes` : undefined
}

const named = (parts: ReadonlyArray<string | undefined>) => `[${parts.filter((part) => part !== undefined).join(", ")}]`

/** A block in words: text as it is; bytes as their type and their size, never themselves. */
export const blockText = (block: Block): string => {
  const resource = resourceOf(block)
  if (resource !== undefined) {
    const [blob, text] = [textAt(resource, "blob"), textAt(resource, "text")]
    const name = named([
      `resource ${textAt(resource, "uri") ?? ""}`,
      textAt(resource, "mimeType"),
      text === undefined ? sizeOf(resource, blob) : undefined
    ])
    return text === undefined ? name : `${name}\n${text}`
  }
  switch (block.type) {
    case "text":
      return textAt(block, "text") ?? ""
    case "resource_link":
      return named([
        `link ${textAt(block, "uri") ?? ""}`,
        textAt(block, "title") ?? textAt(block, "name"),
        textAt(block, "mimeType"),
        sizeOf(block, undefined),
        textAt(block, "description")
      ])
    default:
      return named([block.type, textAt(block, "mimeType"), sizeOf(block, textAt(block, "data"))])
  }
}

const bytesOf = (block: Block) =>
  media.has(block.type) ? textAt(block, "data") : textAt(resourceOf(block) ?? {}, "blob")

/**
 * A value in which bytes of these blocks stand as texts, as servers repeat them in a result's structure: the same with
 * the blocks named in their place, and which blocks those are.
 */
export const nameBytes = (
  value: unknown,
  blocks: ReadonlyArray<Block>
): { readonly value: unknown; readonly named: ReadonlySet<Block> } => {
  const named = new Set<Block>()
  const byBytes = new Map(
    blocks.flatMap((block) => {
      const bytes = bytesOf(block)
      return bytes === undefined || bytes === "" ? [] : [[bytes, block] as const]
    })
  )
  const walk = (inner: unknown): unknown => {
    if (typeof inner === "string") {
      const block = byBytes.get(inner)
      if (block === undefined) return inner
      named.add(block)
      return blockText(block)
    }
    if (Array.isArray(inner)) return inner.map(walk)
    return isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).map(([key, value]) => [key, walk(value)]))
      : inner
  }
  return { value: byBytes.size === 0 ? value : walk(value), named }
}

export const encodedBytes = (value: unknown) => utf8Bytes(JSON.stringify(value) ?? "null")

/**
 * The blocks, within so many bytes of JSON: bytes that find no room are left out of their blocks, in the order of the
 * blocks, so that no text goes for an image's sake. Undefined where even what is left is too much.
 */
export const fitBlocks = (blocks: ReadonlyArray<Block>, bytes: number): ReadonlyArray<Block> | undefined => {
  const light = blocks.map((block) => {
    const bare = withoutBytes(block)
    return encodedBytes(bare) < encodedBytes(block) ? bare : block
  })
  let room = bytes - encodedBytes(light)
  if (room < 0) return undefined
  return blocks.map((block, i) => {
    const bare = light[i] ?? block
    const more = encodedBytes(block) - encodedBytes(bare)
    if (bare === block || more > room) return bare
    room -= more
    return block
  })
}
