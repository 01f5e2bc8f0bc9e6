import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { clientRunTool, toFunctionItem } from './client-run-tools.ts'
import { upstreamNameOf } from './tool-names.ts'

/**
 * The body for an upstream that speaks this format: with the upstream's own ids of calls, namespaces flattened as in
 * the translation, and without reasoning that is sealed here, which only the translation can open.
 */
export function toNativeBody(
  body: JsonObject,
  ids: Pick<ToolCallIds, 'revealed'>,
  isOwnReasoning: (sealed: string) => boolean,
): JsonObject {
  const { input, tools } = body
  return {
    ...body,
    ...(Array.isArray(input)
      ? {
          input: input
            .filter(isObject)
            .flatMap((item) => toItem(toFunctionItem(item), ids, isOwnReasoning)),
        }
      : {}),
    ...(Array.isArray(tools) ? { tools: tools.filter(isObject).flatMap(toTools) } : {}),
  }
}

function toItem(
  item: JsonObject,
  ids: Pick<ToolCallIds, 'revealed'>,
  isOwnReasoning: (sealed: string) => boolean,
): JsonObject[] {
  const { type, encrypted_content: sealed, call_id: id, name, namespace } = item
  if (type === 'reasoning' && typeof sealed === 'string' && isOwnReasoning(sealed)) return []
  if (id === undefined) return [item]
  const named = typeof name === 'string' ? { name: upstreamNameOf(name, namespace) } : {}
  return [{ ...item, ...named, call_id: ids.revealed(id) }]
}

function toTools(tool: JsonObject): JsonObject[] {
  const known = clientRunTool(tool)
  if (known) {
    const { description, parameters } = known
    return [{ type: 'function', name: tool.type, description, parameters, strict: false }]
  }
  if (tool.type !== 'namespace' || !Array.isArray(tool.tools)) return [tool]
  return tool.tools
    .filter(isObject)
    .flatMap((inner) =>
      typeof inner.name === 'string'
        ? [{ ...inner, name: upstreamNameOf(inner.name, tool.name) }]
        : [],
    )
}
