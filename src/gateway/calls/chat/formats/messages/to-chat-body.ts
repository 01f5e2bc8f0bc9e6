/**
 * Translates a Messages request to the chat-completions shape. Fields without an equivalent there are left out. Tools that
 * the client runs are functions; of those that the provider itself would run, agents list some in every request and work
 * without them, and others are refused.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import {
  describeClientTool,
  toToolSchema,
  isWebSearchTool,
} from '../../../../providers/client-tools.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { InvalidField } from '../fields.ts'
import type { OpenThinking } from './sealed-thinking.ts'
import { toChatMessages, toTextParts } from './to-chat-messages.ts'

/** Translates a Messages body to the chat-completions shape. Throws `InvalidField`. */
export function toChatBody(
  body: JsonObject,
  openThinking: OpenThinking = () => undefined,
): JsonObject {
  if (isAbsent(body.max_tokens)) throw new InvalidField('O campo "max_tokens" é obrigatório.')
  if (Array.isArray(body.mcp_servers) && body.mcp_servers.length > 0)
    throw new InvalidField('O campo "mcp_servers" não está disponível.')
  const tools = toTools(body.tools)
  return {
    model: body.model,
    models: body.models,
    provider: body.provider,
    max_tokens: body.max_tokens,
    stream: body.stream,
    messages: [...toInstructions(body.system), ...toChatMessages(body.messages, openThinking)],
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    stop: body.stop_sequences,
    ...(tools.length > 0 ? { tools, ...toToolChoice(body.tool_choice, tools) } : {}),
    reasoning_effort: toEffort(body),
    response_format: toResponseFormat(body),
  }
}

function toInstructions(system: unknown): JsonObject[] {
  if (isAbsent(system)) return []
  return [{ role: 'system', content: toTextParts(system, 'system') }]
}

function toTools(tools: unknown): JsonObject[] {
  if (isAbsent(tools)) return []
  if (!Array.isArray(tools) || !tools.every(isObject))
    throw new InvalidField('O campo "tools" deve ser uma lista de objetos.')
  return tools.flatMap((tool) => {
    const described = describe(tool)
    if (!described) return []
    const { name, cache_control } = tool
    if (typeof name !== 'string' || name === '')
      throw new InvalidField('Cada item de "tools" deve ter "name".')
    return [
      {
        type: 'function',
        function: { name, ...described },
        ...(cache_control === undefined ? {} : { cache_control }),
      },
    ]
  })
}

/**
 * Describes a tool; undefined for one that is left out: the search of the web has a way of its own, that of tools finds
 * what is here.
 */
function describe(tool: JsonObject): JsonObject | undefined {
  const { type, description, input_schema: schema, strict } = tool
  if (isAbsent(type) || type === 'custom')
    return {
      description,
      parameters: isObject(schema) ? toToolSchema(schema) : schema,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    }
  const known = describeClientTool(tool)
  if (known) return { ...known }
  const findsTools = typeof type === 'string' && type.startsWith('tool_search_tool_')
  if (isWebSearchTool(tool) || findsTools) return undefined
  throw new InvalidField(
    'tools: há uma ferramenta que só o provedor do modelo executa e que não está disponível aqui. Envie só ferramentas que o seu programa executa, ou web_search.',
  )
}

/** A choice of a tool that was left out is left out with it. */
function toToolChoice(choice: unknown, tools: readonly JsonObject[]): JsonObject {
  if (!isObject(choice)) return {}
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  switch (choice.type) {
    case 'any':
      return { tool_choice: 'required', ...parallel }
    case 'none':
      return { tool_choice: 'none' }
    case 'tool': {
      const chosen = { name: choice.name }
      const isThere = tools.some(
        (tool) => isObject(tool.function) && tool.function.name === choice.name,
      )
      return isThere
        ? { tool_choice: { type: 'function', function: chosen }, ...parallel }
        : parallel
    }
    default:
      return parallel
  }
}

/** Efforts that every reasoning model knows, by the share of the output that the budget of thinking is. */
const EFFORTS = [
  { upTo: 0.2, effort: 'low' },
  { upTo: 0.45, effort: 'medium' },
] as const

function toEffort({
  thinking,
  max_tokens: limit,
  output_config: config,
}: JsonObject): string | undefined {
  const effort = isObject(config) ? config.effort : undefined
  if (!isObject(thinking)) return typeof effort === 'string' ? effort : undefined
  if (thinking.type === 'disabled') return 'none'
  if (thinking.type === 'adaptive') {
    if (effort === 'low' || effort === 'medium') return effort
    return isAbsent(effort) ? 'medium' : 'high'
  }
  if (thinking.type !== 'enabled') return undefined
  return effortOfBudget(thinking.budget_tokens, limit)
}

/** The effort for a budget of thinking within a limit of the output. */
export function effortOfBudget(budget: unknown, limit: unknown): string {
  const share = typeof budget === 'number' && typeof limit === 'number' ? budget / limit : NaN
  return EFFORTS.find(({ upTo }) => share <= upTo)?.effort ?? 'high'
}

function toResponseFormat({ output_config: config, output_format: former }: JsonObject) {
  const format = isObject(config) && isObject(config.format) ? config.format : former
  if (!isObject(format) || format.type !== 'json_schema') return undefined
  return {
    type: 'json_schema',
    json_schema: { name: 'output', strict: true, schema: format.schema },
  }
}
