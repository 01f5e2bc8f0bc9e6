/**
 * Translates a Gemini request to the chat-completions shape. Fields without an equivalent there are left out; what would
 * change the answer, or has no price here, is refused.
 */
import { toToolSchema } from '../../../../providers/client-tools.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { findNumberFault } from '../../../field-faults.ts'
import { OUTPUT_TOKENS_ABSURD } from '../../chat-request.ts'
import { InvalidField } from '../fields.ts'
import { effortOfBudget } from '../messages/to-chat-body.ts'
import { messageAt, messagesAt, numberOf, protoFields } from './proto-json.ts'
import { textsOf, toChatMessages, type OpenSignature } from './to-chat-messages.ts'

export interface TranslatedRequest {
  readonly body: JsonObject
  readonly showsThoughts: boolean
}

/** Translates the fields of a request. Throws `InvalidField`. */
export function toChatBody(request: JsonObject, openSignature: OpenSignature): TranslatedRequest {
  if (request.cachedContent !== undefined)
    throw new InvalidField(
      'O campo "cachedContent" não está disponível. Envie o conteúdo inteiro: o começo repetido de uma conversa já usa o cache do provedor.',
    )
  const config = readConfig(request.generationConfig)
  const thinking = messageAt(config.thinkingConfig, 'generationConfig.thinkingConfig')
  const instructions = textsOf(request.systemInstruction, 'systemInstruction')
  const body = {
    model: request.model,
    models: request.models,
    provider: request.provider,
    messages: [
      ...(instructions.length > 0
        ? [{ role: 'system', content: instructions.map((text) => ({ type: 'text', text })) }]
        : []),
      ...toChatMessages(request.contents, openSignature),
    ],
    max_tokens: config.maxOutputTokens,
    n: config.candidateCount,
    temperature: config.temperature,
    top_p: numberOf(config.topP),
    top_k: numberOf(config.topK),
    stop: config.stopSequences,
    seed: numberOf(config.seed),
    presence_penalty: numberOf(config.presencePenalty),
    frequency_penalty: numberOf(config.frequencyPenalty),
    reasoning_effort: toEffort(thinking, config.maxOutputTokens),
    response_format: toResponseFormat(config),
    ...toTools(request),
  }
  return { body, showsThoughts: thinking.includeThoughts === true }
}

const CANDIDATES_MAX = 8

function readConfig(value: unknown): JsonObject {
  const given = messageAt(value, 'generationConfig')
  const config: JsonObject = { ...given }
  for (const name of ['maxOutputTokens', 'candidateCount', 'temperature'])
    config[name] = numberOf(given[name])
  const fault =
    findNumberFault(config, 'maxOutputTokens', 1, OUTPUT_TOKENS_ABSURD, true) ??
    findNumberFault(config, 'candidateCount', 1, CANDIDATES_MAX, true) ??
    findNumberFault(config, 'temperature', 0, 2, false) ??
    findUnpricedFault(config)
  if (fault !== undefined) throw new InvalidField(fault)
  return config
}

function findUnpricedFault(config: JsonObject): string | undefined {
  const { responseModalities: modalities, responseLogprobs, logprobs } = config
  const list: unknown[] = Array.isArray(modalities) ? modalities : []
  if (list.some((each) => String(each).toUpperCase() !== 'TEXT'))
    return 'O campo "responseModalities" aceita só ["TEXT"]: saída de áudio e de imagem não está disponível aqui.'
  if (responseLogprobs === true || logprobs !== undefined)
    return 'Os campos "responseLogprobs" e "logprobs" não estão disponíveis neste formato.'
  return undefined
}

/** The largest budget of Gemini Flash, for requests without a limit of the output. */
const BUDGET_MAX = 24_576
const LEVELS: ReadonlyMap<unknown, string> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
])

function toEffort(thinking: JsonObject, limit: unknown): string | undefined {
  const level = LEVELS.get(String(thinking.thinkingLevel).toUpperCase())
  if (level !== undefined) return level
  const budget = numberOf(thinking.thinkingBudget)
  // A negative one leaves it to the model.
  if (typeof budget !== 'number' || budget < 0) return undefined
  return budget === 0 ? 'none' : effortOfBudget(budget, limit ?? BUDGET_MAX)
}

function toResponseFormat(config: JsonObject): JsonObject | undefined {
  const { responseMimeType: type, responseSchema, responseJsonSchema } = config
  const schema = isObject(responseSchema) ? toJsonSchema(responseSchema) : responseJsonSchema
  if (type === 'text/plain' || (type === undefined && schema === undefined)) return undefined
  if (type !== undefined && type !== 'application/json')
    throw new InvalidField('O campo "responseMimeType" aceita text/plain e application/json.')
  return schema === undefined
    ? { type: 'json_object' }
    : { type: 'json_schema', json_schema: { name: 'output', schema } }
}

/** The functions of a request, and the choice among them; empty without any. */
function toTools({ tools, toolConfig }: JsonObject): JsonObject {
  const declared = messagesAt(tools, 'tools').flatMap(({ functionDeclarations, ...others }) => {
    if (Object.keys(others).length > 0)
      throw new InvalidField(
        'tools: há uma ferramenta que só o provedor do modelo executa e que não está disponível aqui. Envie só functionDeclarations.',
      )
    return messagesAt(functionDeclarations, 'tools.functionDeclarations').map(toFunction)
  })
  const config = messageAt(toolConfig, 'toolConfig').functionCallingConfig
  const { mode, allowedFunctionNames } = messageAt(config, 'toolConfig.functionCallingConfig')
  const names: unknown[] = Array.isArray(allowedFunctionNames) ? allowedFunctionNames : []
  const allowed = new Set(names)
  const functions = allowed.size === 0 ? declared : declared.filter(({ name }) => allowed.has(name))
  if (functions.length === 0) return {}
  return {
    tools: functions.map((described) => ({ type: 'function', function: described })),
    tool_choice: CHOICES.get(String(mode).toUpperCase()),
  }
}

const CHOICES: ReadonlyMap<string, string> = new Map([
  ['ANY', 'required'],
  ['NONE', 'none'],
])

function toFunction(declaration: JsonObject): JsonObject {
  const { name, description, parameters, parametersJsonSchema } = declaration
  if (typeof name !== 'string' || name === '')
    throw new InvalidField('Cada item de "functionDeclarations" deve ter "name".')
  const schema = isObject(parameters) ? toJsonSchema(parameters) : parametersJsonSchema
  return { name, description, ...(isObject(schema) ? { parameters: toToolSchema(schema) } : {}) }
}

/** Integers of 64 bits, which the JSON of protocol buffers writes as texts. */
const BOUNDS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
])

/** A body has at most 200 levels, and so has its schema. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { nullable, propertyOrdering: _order, example, ...fields } = protoFields(schema)
  const translated = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, translate(name, value)]),
  )
  const { type, enum: values } = translated
  // Not a type, but that there is none.
  if (type === 'type_unspecified') delete translated.type
  if (example !== undefined) translated.examples = [example]
  if (nullable !== true) return translated
  if (type !== undefined) translated.type = [type, 'null']
  if (Array.isArray(values)) translated.enum = [...(values as unknown[]), null]
  if (Array.isArray(translated.anyOf)) translated.anyOf.push({ type: 'null' })
  return translated
}

function translate(name: string, value: unknown): unknown {
  if (name === 'type') return typeof value === 'string' ? value.toLowerCase() : value
  if (name === 'items' || name === 'additionalProperties')
    return isObject(value) ? toJsonSchema(value) : value
  if (name === 'anyOf') return Array.isArray(value) ? value.map(translateEach) : value
  if (name === 'properties' && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([property, each]) => [property, translateEach(each)]),
    )
  return BOUNDS.has(name) ? numberOf(value) : value
}

function translateEach(schema: unknown): unknown {
  return isObject(schema) ? toJsonSchema(schema) : schema
}
