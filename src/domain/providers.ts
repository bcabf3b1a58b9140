/** Where the hosted providers of models are, unless an operator or a connection says otherwise. */
export const providerUrls = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta"
} as const

const isHosted = (provider: string): provider is keyof typeof providerUrls => Object.hasOwn(providerUrls, provider)

/** The address of a hosted provider; undefined for every other label. */
export const providerUrl = (provider: string): string | undefined =>
  isHosted(provider) ? providerUrls[provider] : undefined
