/** Who is signed in, and the client that asks in their name. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react"
import { answerOf, connect, type Troupe } from "../../../src/client/client.ts"
import { TroupeError } from "../../../src/client/errors.ts"
import type { components } from "../../../src/client/types.ts"
import { firstKey, forgetKey, keepKey, onNews } from "./key.ts"
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

const connectWith = (key: string) => connect({ url: location.origin, key })

const messageOf = (failure: unknown) =>
  failure instanceof TroupeError && failure.status === 401
    ? "The server does not know this key, or it was revoked or has expired."
    : failure instanceof Error
      ? failure.message
      : String(failure)

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const [key, setKey] = useState(firstKey)
  const [auth, setAuth] = useState<Auth>()
  const [problem, setProblem] = useState<string>()
  const troupe = useMemo(() => (key === undefined ? undefined : connectWith(key)), [key])

  const signOut = useCallback(() => {
    forgetKey()
    setKey(undefined)
    setAuth(undefined)
  }, [])

  useEffect(
    () =>
      onNews({
        key: (other) => setKey((mine) => mine ?? other),
        forget: () => {
          setKey(undefined)
          setAuth(undefined)
        }
      }),
    []
  )

  useEffect(() => {
    if (troupe === undefined || key === undefined) return
    let left = false
    answerOf(troupe.api.GET("/v1/auth")).then(
      (found) => {
        if (left) return
        keepKey(key)
        setProblem(undefined)
        setAuth(found)
      },
      (failure: unknown) => {
        if (left) return
        setProblem(messageOf(failure))
        setKey(undefined)
      }
    )
    return () => {
      left = true
    }
  }, [troupe, key])

  const session = useMemo(
    () => (troupe === undefined || auth === undefined ? undefined : { troupe, auth, signOut }),
    [troupe, auth, signOut]
  )
  if (session === undefined)
    return <SignIn isAsking={key !== undefined && problem === undefined} problem={problem} onKey={setKey} />
  return <Context value={session}>{children}</Context>
}
