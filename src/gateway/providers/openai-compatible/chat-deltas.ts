/** The chunks of chat completions that only add text, or arguments to a tool call. */
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import type { DeltaForm, FieldText } from '../text-delta.ts'

/**
 * The fields of a chat that reach upstreams. Fields on neither list are never sent, because an unknown field may be
 * billed at a price that the catalog does not have. The gateway itself writes `model`, the output limit, `stream` and
 * `stream_options`.
 */
const COMMON = [
  'messages',
  'n',
  'stop',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'prompt_cache_key',
  'safety_identifier',
]

/** The fields that are sent to OpenAI, which refuses unknown ones. */
export const OPENAI_CHAT_FIELDS: ReadonlySet<string> = new Set(COMMON)

/**
 * The fields that are sent to other upstreams with this format, which also take sampling parameters and switches for
 * reasoning.
 */
export const OPEN_CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON,
  'top_k',
  'top_a',
  'min_p',
  'typical_p',
  'repetition_penalty',
  'min_tokens',
  'random_seed',
  'safe_prompt',
  'reasoning',
  'reasoning_format',
  'include_reasoning',
  'thinking',
  'enable_thinking',
])

/** The fields of a message or delta with generated text. */
export const TEXT_FIELDS = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const
const ARGUMENTS = 'arguments'

export const CHAT_DELTAS: DeltaForm = {
  varying: ['obfuscation'],
  textOf(chunk) {
    if (chunk.usage || chunk.error || chunk.object === 'error') return undefined
    const delta = deltaOf(chunk)
    if (!delta) return undefined
    let found: FieldText | undefined
    for (const name in delta) {
      const value = delta[name]
      if (value === null || value === '' || name === 'role') continue
      if (found !== undefined) return undefined
      found = name === 'tool_calls' ? argumentsOf(value) : textOf(name, value)
      if (!found) return undefined
    }
    return found
  },
  shapeOf: (chunk, field) => ({ bodyWith: (text) => withText(chunk, field, text) }),
}

function textOf(name: string, value: unknown): FieldText | undefined {
  const field = TEXT_FIELDS.find((one) => one === name)
  return field !== undefined && typeof value === 'string' ? { field, text: value } : undefined
}

/** The arguments that a delta adds to one call. The delta that names the call is counted in another way. */
function argumentsOf(calls: unknown): FieldText | undefined {
  if (!Array.isArray(calls) || calls.length !== 1) return undefined
  const [call] = calls as unknown[]
  if (!isObject(call) || !isObject(call.function)) return undefined
  for (const name in call.function) if (name !== ARGUMENTS) return undefined
  const text = call.function[ARGUMENTS]
  return typeof text === 'string' ? { field: ARGUMENTS, text } : undefined
}

/** The delta of the only choice, if that choice does not end. */
function deltaOf({ choices }: JsonObject): JsonObject | undefined {
  if (!Array.isArray(choices) || choices.length !== 1) return undefined
  const [choice] = choices as unknown[]
  if (!isObject(choice) || choice.finish_reason || choice.logprobs) return undefined
  return isObject(choice.delta) ? choice.delta : undefined
}

/** A copy, because its readers may change it. */
function withText(chunk: JsonObject, field: string, text: string): JsonObject {
  const [choice] = chunk.choices as [JsonObject]
  const delta = choice.delta as JsonObject
  return {
    ...chunk,
    choices: [
      {
        ...choice,
        delta: {
          ...delta,
          ...(field === ARGUMENTS ? withArguments(delta, text) : { [field]: text }),
        },
      },
    ],
  }
}

function withArguments({ tool_calls: calls }: JsonObject, text: string): JsonObject {
  const [call] = calls as [JsonObject]
  return { tool_calls: [{ ...call, function: { [ARGUMENTS]: text } }] }
}
