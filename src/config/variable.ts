/** A variable of the environment: its form, what stands for it where it is absent, and its meaning. */
import { Config, ConfigProvider, Effect, Option, Result } from "effect"
import type { Form, Mode } from "./forms.ts"

/** What stands for a variable that is absent or empty, and how docs/configuration.md tells it. */
export interface Default<A> {
  readonly shownAs: string
  readonly of: (mode: Mode) => Result.Result<A, string>
}

export const always = <A extends string | number>(value: A): Default<A> => ({
  shownAs: String(value),
  of: () => Result.succeed(value)
})
export const perMode = <A>(dev: A, serve: A): Default<A> => ({
  shownAs: `${dev} in dev, ${serve} in serve`,
  of: (mode) => Result.succeed(mode === "dev" ? dev : serve)
})
export const made = <A>(shownAs: string, make: () => A): Default<A> => ({ shownAs, of: () => Result.succeed(make()) })
export const none = (shownAs = "none"): Default<undefined> => made(shownAs, () => undefined)
/** `missing` is the sentence on a production node that lacks it. */
export const requiredInServe = <A>(shownAs: string, dev: A, missing: string): Default<A> => ({
  shownAs,
  of: (mode) => (mode === "dev" ? Result.succeed(dev) : Result.fail(`is missing: ${missing}`))
})

/** A variable of the environment: yielded, it is its value. */
export type Variable<A> = Config.Config<A> & {
  readonly variable: string
  readonly standard: string
  readonly meaning: string
}

const textOf = (found: Option.Option<string>) => Option.getOrElse(found, () => "").trim()

export const variable =
  (mode: Mode) =>
  <A, B = A>(name: string, form: Form<A>, standard: Default<B>, meaning: string): Variable<A | B> =>
    Object.assign(
      Config.option(Config.String(name)).pipe(
        Config.mapEffect((found) => {
          const text = textOf(found)
          const read: Result.Result<A | B, string> = text === "" ? standard.of(mode) : form(text, mode)
          return Effect.fromResult(read).pipe(
            Effect.mapError(
              (wrong) => new Config.ConfigError(new ConfigProvider.SourceError({ message: `${name} ${wrong}.` }))
            )
          )
        })
      ),
      { variable: name, standard: standard.shownAs, meaning }
    )
