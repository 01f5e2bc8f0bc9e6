import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ChatCall, JsonObject } from '../contract.ts'
import { type AiSdkOptions, callHeaders, modelFormat } from './ai-sdk-options.ts'
import type { ReadFile } from './read-file.ts'
import { RefusedRequest } from './to-failure.ts'
import { toPrompt } from './to-prompt.ts'
import { toReasoning } from './to-reasoning.ts'
import { toTools } from './to-tools.ts'

/** For upstreams that accept a schema but have no mode for free-form JSON. */
const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation and no code fence.'

/** Converts a chat-completions request to a model call. Rejects with a `RefusedRequest`. */
export async function toCallOptions(
  call: ChatCall,
  model: LanguageModelV4,
  kind: AiSdkOptions['kind'],
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<LanguageModelV4CallOptions> {
  const { body } = call
  const format = modelFormat(kind, model.modelId)
  if (typeof body.n === 'number' && body.n > 1) {
    throw new RefusedRequest('this upstream gives one choice only')
  }
  const tools = toTools(body)
  const whole = await toPrompt(body.messages, readFile)
  const hasTools = tools.tools !== undefined && tools.toolChoice?.type !== 'none'
  const prompt = format === 'amazon-bedrock' && !hasTools ? withToolsAsText(whole) : whole
  const responseFormat = toResponseFormat(body.response_format)
  const { providerOptions, ...reasoning } = toReasoning(
    format,
    model.modelId,
    body.reasoning_effort,
    call.outputTokensMax,
  )
  return {
    prompt: needsJsonInstruction(format, responseFormat)
      ? withInstruction(prompt, JSON_INSTRUCTION)
      : prompt,
    ...reasoning,
    ...toSampling(body, format, model.modelId),
    ...tools,
    ...(responseFormat ? { responseFormat } : {}),
    providerOptions: toProviderOptions(format, model.modelId, body, providerOptions),
    headers: callHeaders(call.callId),
    abortSignal: signal,
  }
}

function toSampling(
  body: JsonObject,
  format: AiSdkOptions['kind'],
  modelId: string,
): Partial<LanguageModelV4CallOptions> {
  const isClaude = format === 'anthropic' || modelId.includes('anthropic.')
  const temperature = numberOf(body.temperature)
  const given = {
    temperature,
    // Claude takes one of both.
    topP: isClaude && temperature !== undefined ? undefined : numberOf(body.top_p),
    topK: format === 'amazon-bedrock' ? undefined : numberOf(body.top_k),
    presencePenalty: numberOf(body.presence_penalty),
    frequencyPenalty: numberOf(body.frequency_penalty),
    seed: numberOf(body.seed),
    stopSequences: toStopSequences(body.stop, isClaude),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Claude refuses a stop text of white space. */
function toStopSequences(stop: unknown, isClaude: boolean): string[] | undefined {
  const texts = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(texts) || texts.length === 0) return undefined
  return texts.filter(
    (text): text is string =>
      typeof text === 'string' && (isClaude ? text.trim() !== '' : text !== ''),
  )
}

function toResponseFormat(format: unknown): LanguageModelV4CallOptions['responseFormat'] {
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) {
    throw new RefusedRequest('a response_format of an unknown type')
  }
  const { name, description, schema } = format.json_schema
  return {
    type: 'json',
    ...(isObject(schema) ? { schema } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  }
}

function needsJsonInstruction(
  kind: AiSdkOptions['kind'],
  format: LanguageModelV4CallOptions['responseFormat'],
): boolean {
  const hasNoMode = kind === 'anthropic' || kind === 'amazon-bedrock'
  return hasNoMode && format?.type === 'json' && format.schema === undefined
}

/** Adds the instruction after all others, so that their cached prefix at the upstream stays valid. */
function withInstruction(prompt: LanguageModelV4Prompt, content: string): LanguageModelV4Prompt {
  const first = prompt.findIndex(({ role }) => role !== 'system')
  const index = first === -1 ? prompt.length : first
  return [...prompt.slice(0, index), { role: 'system', content }, ...prompt.slice(index)]
}

function toProviderOptions(
  kind: AiSdkOptions['kind'],
  modelId: string,
  body: JsonObject,
  reasoning:
    | { readonly name: string; readonly options: SharedV4ProviderOptions[string] }
    | undefined,
): SharedV4ProviderOptions {
  const given: SharedV4ProviderOptions = {}
  if (kind === 'anthropic' || kind === 'amazon-bedrock') {
    given.anthropic = {
      // So that plain and streamed calls serialize tools alike and share the upstream's cache.
      ...(kind === 'anthropic' ? { toolStreaming: false } : {}),
      ...(body.parallel_tool_calls === false ? { disableParallelToolUse: true } : {}),
    }
  }
  const topK = numberOf(body.top_k)
  // The package puts it where Bedrock does not read it. Claude takes none beside its reasoning.
  if (kind === 'amazon-bedrock' && topK !== undefined && !reasoning)
    given.amazonBedrock = { additionalModelRequestFields: topKOnBedrock(modelId, topK) }
  if (reasoning) given[reasoning.name] = { ...given[reasoning.name], ...reasoning.options }
  return given
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** By the models' own names for it. */
function topKOnBedrock(modelId: string, topK: number): JSONObject {
  return modelId.includes('amazon.nova') ? { inferenceConfig: { topK } } : { top_k: topK }
}

/**
 * Bedrock refuses calls of tools and their results in a request without tools, and the package would leave them out: the
 * model reads them as text.
 */
function withToolsAsText(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role === 'assistant')
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === 'tool-call'
            ? text(`[Call of the tool ${part.toolName}: ${JSON.stringify(part.input)}]`)
            : part,
        ),
      }
    if (message.role !== 'tool') return message
    const results = message.content.filter((part) => part.type === 'tool-result')
    return {
      role: 'user',
      content: results.flatMap(({ toolName, output }) => [
        text(`[Result of the tool ${toolName}]`),
        ...(output.type === 'content'
          ? output.value.filter((part) => part.type === 'text' || part.type === 'file')
          : [text(output.type === 'text' ? output.value : JSON.stringify(output))]),
      ]),
    }
  })
}

function text(value: string) {
  return { type: 'text' as const, text: value }
}
