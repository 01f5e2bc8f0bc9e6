import type { JsonObject } from './contract.ts'

/** Whether a tool is the search of the web that a provider runs, in any version of the Responses or Messages format. */
export function isWebSearchTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && /^web_search(_|$)/.test(type)
}
