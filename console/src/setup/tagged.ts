/** An answer with the version that a change of it is held against, and the other ways of asking that pages share. */
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import { patchOf } from "../parts/mergePatch.ts"
import type { Over } from "../parts/YamlEditor.tsx"

/** An ETag beside the body that has it. */
export const taggedOf = async <Body>(asked: Promise<{ readonly data?: Body; readonly response: Response }>) => {
  const { response } = await asked
  return { body: await answerOf(asked), etag: response.headers.get("etag") ?? undefined }
}

/** `If-Match`, where there is a version. */
export const ifMatch = (etag: string | undefined) => (etag === undefined ? {} : { ifMatch: etag })

/**
 * Makes what was read into what was written. It is read again also where that was refused: whose change came first is
 * seen then, before anything is sent once more.
 */
export const patching =
  (
    troupe: Troupe,
    {
      again,
      path,
      whole = []
    }: {
      readonly path: string
      readonly again: () => Promise<unknown>
      /** Fields that are sent as a whole where anything in them has changed. */
      readonly whole?: ReadonlyArray<string>
    }
  ) =>
  async (after: unknown, { etag, value }: Over): Promise<unknown> => {
    try {
      return await troupe.send("PATCH", path, { body: patchOf(value, after, whole), ...ifMatch(etag) })
    } finally {
      await again()
    }
  }

/** What reads of agents and threads answer with where a rule of the policy parks them. */
export class Parked extends Error {
  override readonly message = "Reading this waits for approval, in the inbox."
}
