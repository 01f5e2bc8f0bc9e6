/**
 * Reads what is only in the Messages body itself: the upstream's ids of tool calls, the lifetimes of caches, and the
 * searches of the web.
 */
import { webSearchesAsked } from '../../../../../money/catalog/web-search.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isWebSearchTool } from '../../../../providers/web-search-tool.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'

/** Restores the ids of tool calls in a body that is not checked yet, in place. */
export function revealBlocks(body: JsonObject, ids: Pick<ToolCallIds, 'revealed'>): void {
  for (const message of listOf(body.messages)) {
    for (const block of listOf(message.content)) {
      const { type } = block
      if (type === 'tool_use' || type === 'server_tool_use') block.id = ids.revealed(block.id)
      if (type === 'tool_result' || type === 'web_search_tool_result')
        block.tool_use_id = ids.revealed(block.tool_use_id)
    }
  }
}

/** Whether any part of a body asks for a cache, also one that its translation leaves out, and for one of an hour. */
export function cachesAsked(body: JsonObject) {
  const places = [body, ...listOf(body.tools), ...listOf(body.system), ...listOf(body.messages)]
  const controls = places.flatMap(controlsIn)
  return {
    hasCacheControl: controls.length > 0,
    cachesForAnHour: controls.some(({ ttl }) => ttl === '1h'),
  }
}

/** The searches of the web that a request allows; 0 if it lists none, or if its `tool_choice` excludes it. */
export function searchesAsked({ tools, tool_choice: choice }: JsonObject): number {
  const search = listOf(tools).find(isWebSearchTool)
  if (!search) return 0
  if (isObject(choice)) {
    const isOther = choice.type === 'tool' && choice.name !== search.name
    if (choice.type === 'none' || isOther) return 0
  }
  return webSearchesAsked(search.max_uses)
}

/** Whether the choice of a tool names the search of the web, or requires a tool where there is no other. */
export function mustSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  if (!isObject(choice)) return false
  if (choice.type === 'any') return listOf(tools).length > 0 && listOf(tools).every(isWebSearchTool)
  if (choice.type !== 'tool') return false
  return listOf(tools).some((tool) => isWebSearchTool(tool) && tool.name === choice.name)
}

function controlsIn({ cache_control: control, content, source }: JsonObject): JsonObject[] {
  const inner = [...listOf(content), ...(isObject(source) ? listOf(source.content) : [])]
  return [...(isObject(control) ? [control] : []), ...inner.flatMap(controlsIn)]
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
