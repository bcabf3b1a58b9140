/**
 * MessageContent (contract C15.1): 1 to 40 blocks of text or image, with the limits of a user's and of an assistant's
 * message.
 */
import { Schema } from "effect"
import { described } from "./described.ts"
import { is } from "./jsonSchema.ts"
import { limits } from "./limits.ts"
import { nonBlank, utf8Bytes } from "./text.ts"

export const ImageId = Schema.String.check(
  Schema.isPattern(/^img_[0-9a-f]{64}$/, {
    expected: "an id of the form img_ and 64 hex digits",
    toJsonSchema: () => ({ pattern: "^img_[0-9a-f]{64}$" })
  })
)
export const ImageFormat = Schema.Literals(["jpeg", "png", "gif", "webp"])
export type ImageFormat = typeof ImageFormat.Type

export const TextBlock = Schema.Struct({
  type: described(Schema.Literal("text"), "Tells the kinds of blocks apart."),
  text: described(Schema.String.check(nonBlank), "The words, with at least one character that is no white space.")
}).annotate({ identifier: "TextBlock" })
export const ImageBlock = Schema.Struct({
  type: described(Schema.Literal("image"), "Tells the kinds of blocks apart."),
  imageId: described(ImageId, "An image of the agent.")
}).annotate({ identifier: "ImageBlock" })
export const ContentBlock = Schema.Union([TextBlock, ImageBlock])
export type ContentBlock = typeof ContentBlock.Type

const textBytes = (blocks: ReadonlyArray<ContentBlock>) =>
  blocks.reduce((sum, block) => (block.type === "text" ? sum + utf8Bytes(block.text) : sum), 0)
const textLength = (blocks: ReadonlyArray<ContentBlock>) =>
  blocks.reduce((sum, block) => (block.type === "text" ? sum + block.text.length : sum), 0)
const imageIds = (blocks: ReadonlyArray<ContentBlock>) =>
  blocks.flatMap((block) => (block.type === "image" ? [block.imageId] : []))

const blocks = Schema.Array(ContentBlock)
  .annotate({ expected: `an array of blocks, such as [{"type":"text","text":"…"}]` })
  .check(
    Schema.isMinLength(1),
    Schema.isMaxLength(limits.contentBlocks),
    Schema.makeFilter(
      (content) => imageIds(content).length <= limits.imageBlocks || `at most ${limits.imageBlocks} image blocks`,
      {
        toJsonSchema: () => ({
          contains: is("type", "image"),
          minContains: 0,
          maxContains: limits.imageBlocks,
          description: `At most ${limits.imageBlocks} image blocks, with different ids.`
        })
      }
    ),
    Schema.makeFilter(
      (content) =>
        new Set(imageIds(content)).size === imageIds(content).length || "image ids that are unique within the message"
    )
  )

/**
 * More than an image's block takes as JSON, or a text's without its text: of that a character takes up to six bytes.
 */
const blockBytes = 128

const withTextOf = (bytes: number) =>
  blocks.check(
    Schema.makeFilter((content) => textBytes(content) <= bytes || `at most ${bytes} bytes of text in all`, {
      toJsonSchema: () => [
        { description: `At most ${bytes} bytes of text in all, and ${limits.messageBytes} of encoded JSON.` },
        true
      ]
    }),
    Schema.makeFilter(
      (content) =>
        content.length * blockBytes + 6 * textLength(content) <= limits.messageBytes ||
        utf8Bytes(JSON.stringify(content)) <= limits.messageBytes ||
        `at most ${limits.messageBytes} bytes of encoded JSON`
    )
  )

/** What a user may send: at most 8 KiB of text. */
export const UserContent = withTextOf(limits.userTextBytes).annotate({ identifier: "MessageContent" })
/** What an event may hold: an assistant's text goes up to 64 KiB. */
export const MessageContent = blocks
export type MessageContent = ReadonlyArray<ContentBlock>

export const SubmitMode = Schema.Literals(["queue", "steer", "interrupt"])
export type SubmitMode = typeof SubmitMode.Type
