import { webSearchesAsked } from '../../../../../money/catalog/web-search.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isWebSearchTool } from '../../../../providers/web-search-tool.ts'

/** The searches of the web that a request allows; 0 if it lists none, or if its `tool_choice` excludes it. */
export function searchesAsked({
  tools,
  tool_choice: choice,
  max_tool_calls: limit,
}: JsonObject): number {
  const isListed = (list: unknown): boolean =>
    Array.isArray(list) && list.filter(isObject).some(isWebSearchTool)
  if (!isListed(tools) || choice === 'none') return 0
  if (isObject(choice)) {
    const isChosen =
      choice.type === 'allowed_tools' ? isListed(choice.tools) : isWebSearchTool(choice)
    if (!isChosen) return 0
  }
  return webSearchesAsked(limit)
}

/** Whether the answer must search: its `tool_choice` names the search, or requires a tool where there is no other. */
export function mustSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  const areAll = (list: unknown): boolean =>
    Array.isArray(list) &&
    list.length > 0 &&
    list.every((one: unknown) => isObject(one) && isWebSearchTool(one))
  if (!isObject(choice)) return choice === 'required' && areAll(tools)
  if (choice.type !== 'allowed_tools') return isWebSearchTool(choice)
  return choice.mode === 'required' && areAll(choice.tools)
}
