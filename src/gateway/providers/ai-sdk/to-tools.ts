import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import { readCacheControl, textOf } from './to-user-parts.ts'
import { toToolSchema } from '../client-tools.ts'
import { RefusedRequest } from './to-failure.ts'

/** Converts the tools of a request, and `tool_choice`. Throws a `RefusedRequest`. */
export function toTools(
  body: JsonObject,
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  // The form before `tools`, whose calls come back in a form of their own.
  if (Array.isArray(body.functions) && body.functions.length > 0)
    throw new RefusedRequest('functions in place of tools')
  const { allowed, choice } = readAllowed(body.tool_choice)
  const all = Array.isArray(body.tools) ? body.tools.map(toTool) : []
  const tools = allowed ? all.filter(({ name }) => allowed.has(name)) : all
  const toolChoice = toToolChoice(choice)
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(tools.length > 0 && toolChoice ? { toolChoice } : {}),
  }
}

function toTool(tool: unknown): LanguageModelV4FunctionTool {
  if (!isObject(tool) || tool.type !== 'function' || !isObject(tool.function)) {
    throw new RefusedRequest('a tool that is not a function')
  }
  const { name, description, parameters, strict } = tool.function
  return {
    type: 'function',
    name: textOf(name),
    ...(typeof description === 'string' ? { description } : {}),
    // Clients may omit the parameters of a function without any; upstreams require a schema.
    inputSchema: toToolSchema(isObject(parameters) ? parameters : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    ...readCacheControl(tool),
  }
}

/** The tools that the choice permits, and the choice among them. */
function readAllowed(choice: unknown): { allowed?: ReadonlySet<string>; choice: unknown } {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return { choice }
  const { tools, mode } = isObject(choice.allowed_tools) ? choice.allowed_tools : {}
  if (!Array.isArray(tools)) throw new RefusedRequest('allowed tools without a list')
  const named = tools.map((tool: unknown) =>
    isObject(tool) && isObject(tool.function) ? textOf(tool.function.name) : '',
  )
  return { allowed: new Set(named), choice: mode === 'required' ? 'required' : 'auto' }
}

function toToolChoice(choice: unknown): LanguageModelV4ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  if (isObject(choice) && choice.type === 'function' && isObject(choice.function)) {
    return { type: 'tool', toolName: textOf(choice.function.name) }
  }
  throw new RefusedRequest('a tool_choice of an unknown kind')
}
