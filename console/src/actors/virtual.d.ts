/** Made by the build (console/chartLayouts.ts). */
declare module "virtual:chart-drawings" {
  import type { Drawing } from "./drawn.ts"
  const drawings: Readonly<Record<string, Drawing>>
  export default drawings
}
