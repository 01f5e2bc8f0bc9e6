/**
 * Searches of the web, of which nothing is true. The user writes them down, one in each line: `pesquise preço do dólar`.
 * As with providers, the model reads the whole prompt again after each, with what was found until then.
 */
import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject } from './read-field.ts'
import { lastUserText } from './write-text.ts'
import { lastResults, type ChatMessage } from './read-messages.ts'

export interface WebSearch {
  readonly query: string
  readonly url: string
  readonly title: string
  /** What the model reads. */
  readonly content: string
}

const LINE = /^[ \t]*pesquise (\S.{0,199})$/gim
/** About a thousand tokens. */
const PAGE = 'A catraca gira quando há saldo, e sem saldo ninguém passa. '.repeat(70)

/** The search among the tools of a request in the Responses or Messages format; undefined without one. */
export function findSearchTool(tools: unknown): JsonObject | undefined {
  const list = Array.isArray(tools) ? tools.filter(isObject) : []
  return list.find(isSearchTool)
}

export function isSearchTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('web_search')
}

/** The first searches that the user planned; without a limit, all of them. */
export function planSearches(
  turns: readonly ChatMessage[],
  tool: JsonObject | undefined,
  limit: unknown,
): WebSearch[] {
  if (tool === undefined || lastResults(turns).length > 0) return []
  const queries = Array.from(lastUserText(turns).matchAll(LINE), ([, query = '']) => query)
  return queries.slice(0, typeof limit === 'number' ? limit : undefined).map((query, index) => ({
    query,
    url: `https://example.com/pesquisa/${index + 1}`,
    title: `Sobre ${query}`,
    content: `${query}: ${PAGE}`,
  }))
}
