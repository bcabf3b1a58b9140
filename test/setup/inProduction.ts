/** Runs something as it runs in production: Vite builds for developers elsewhere, half as large again. */
export const inProduction = async <A>(run: () => Promise<A>): Promise<A> => {
  const { NODE_ENV: before } = process.env
  process.env.NODE_ENV = "production"
  try {
    return await run()
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}
