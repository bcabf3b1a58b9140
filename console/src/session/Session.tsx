/**
 * Who is signed in, and the client that asks in their name.
 *
 * S1. Only the server's word ends a key: while it is away, or cannot tell, the key is kept and tried again.
 * S2. A key that ends under an open page leads to the sign-in. The page stays behind it as it was, with what was typed:
 *     another key of the same workspace goes on with it. A key that may not read is not signed in: its pages would be
 *     empty, and say that nothing is there.
 * S3. Nothing of one workspace is left for another one: its page begins anew, and so does what is kept of answers.
 */
import { useQueryClient } from "@tanstack/react-query"
import { createContext, Fragment, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react"
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import { TroupeError } from "../../../src/client/errors.ts"
import type { components } from "../../../src/client/types.ts"
import { connectWith } from "./connection.ts"
import { dropKey, firstKey, forgetKey, keepKey, onNews } from "./key.ts"
import { SignIn } from "./SignIn.tsx"

export type Auth = components["schemas"]["AuthContext"]
export type Scope = Auth["scopes"][number]

export interface Session {
  readonly troupe: Troupe
  readonly auth: Auth
  readonly signOut: () => void
}

const Context = createContext<Session | undefined>(undefined)

export const useSession = (): Session => {
  const session = useContext(Context)
  if (session === undefined) throw new Error("nobody is signed in here")
  return session
}

export const useMay = (scope: Scope): boolean => useSession().auth.scopes.includes(scope)

const againMs = 3_000

const unknown = "The server does not know this key, or it was revoked or has expired."
const mayNotRead = "The console shows nothing to a key without the scope read."

/** Why a key that is refused is not signed in, in words. A key whose identity is disabled is refused too. */
const refusalOf = ({ code, message }: TroupeError) => (code === "missing_scope" ? mayNotRead : message)

interface Known {
  readonly troupe: Troupe
  readonly auth: Auth
}

/** Asks who the key is, again and again until the server says (S1). */
const useKnown = (
  key: string | undefined,
  {
    onKnown,
    onProblem,
    onEnded
  }: {
    readonly onKnown: (known: Known) => void
    readonly onProblem: (problem: string) => void
    /** Why, in words. */
    readonly onEnded: (why: string) => void
  }
) => {
  useEffect(() => {
    if (key === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let left = false
    const troupe = connectWith(key, () => {
      if (!left) onEnded(unknown)
    })
    const ask = () =>
      answerOf(troupe.api.GET("/v1/auth")).then(
        (auth) => {
          if (left) return
          if (!auth.scopes.includes("read")) return onEnded(mayNotRead)
          keepKey(key)
          onKnown({ troupe, auth })
        },
        (failure: unknown) => {
          // 401 has ended it already.
          if (left || (failure instanceof TroupeError && failure.status === 401)) return
          if (failure instanceof TroupeError && failure.status === 403) return onEnded(refusalOf(failure))
          onProblem(failure instanceof Error ? failure.message : String(failure))
          timer = setTimeout(() => void ask(), againMs)
        }
      )
    void ask()
    return () => {
      left = true
      clearTimeout(timer)
    }
  }, [key, onKnown, onProblem, onEnded])
}

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient()
  const [key, setKey] = useState(firstKey)
  const [known, setKnown] = useState<Known>()
  const [problem, setProblem] = useState<string>()

  const leave = useCallback(() => {
    setKey(undefined)
    setKnown(undefined)
    setProblem(undefined)
    queries.clear()
  }, [queries])
  const signOut = useCallback(() => {
    forgetKey()
    leave()
  }, [leave])
  const onEnded = useCallback((why: string) => {
    dropKey()
    setKey(undefined)
    setProblem(why)
  }, [])
  const onKnown = useCallback(
    (found: Known) => {
      setProblem(undefined)
      setKnown((before) => {
        if (before !== undefined && before.auth.workspaceId !== found.auth.workspaceId) queries.clear()
        else void queries.invalidateQueries()
        return found
      })
    },
    [queries]
  )
  useEffect(() => onNews({ key: (other) => setKey((mine) => mine ?? other), forget: leave }), [leave])
  useKnown(key, { onKnown, onProblem: setProblem, onEnded })

  const session = useMemo(() => (known === undefined ? undefined : { ...known, signOut }), [known, signOut])
  const isIn = session !== undefined && key !== undefined
  return (
    <>
      {isIn ? null : <SignIn isAsking={key !== undefined} problem={problem} onKey={setKey} />}
      {session === undefined ? null : (
        <div hidden={!isIn}>
          <Context value={session}>
            <Fragment key={session.auth.workspaceId}>{children}</Fragment>
          </Context>
        </div>
      )}
    </>
  )
}
