/**
 * One conversation that exercises every feature of a provider at once: an image, thinking, two parallel tool
 * calls, their results, a final answer, cached and reasoning tokens. Every provider has fixtures of it.
 */
import { isObject } from '../../src/platform/lib/is-object.ts'
import type { JsonObject, ReportedTokens } from '../../src/gateway/providers/contract.ts'

export const IMAGE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const WEATHER_TOOLS = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
        required: ['city'],
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'get_time',
      description: 'The time in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
]

export function weatherRequest(model: string): JsonObject & { messages: JsonObject[] } {
  return {
    model,
    max_completion_tokens: 4096,
    reasoning_effort: 'low',
    tools: WEATHER_TOOLS,
    tool_choice: 'auto',
    messages: [
      { role: 'system', content: 'You answer in one sentence.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is the weather in this city, and the time in Manaus?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` } },
        ],
      },
    ],
  }
}

/** The second turn: the model's answer as it was sent, and the results of its tools. */
export function withToolResults(
  request: ReturnType<typeof weatherRequest>,
  message: JsonObject,
): ReturnType<typeof weatherRequest> {
  const results = ['{"celsius":29,"sky":"sun"}', '14:05']
  const calls = message.tool_calls as JsonObject[]
  return {
    ...request,
    messages: [
      ...request.messages,
      message,
      ...calls.map(({ id }, index) => ({
        role: 'tool',
        tool_call_id: id,
        content: results[index],
      })),
    ],
  }
}

export const WEATHER_THINKING =
  'Two cities were asked about. I need the weather in Recife and the time in Manaus.'

export const WEATHER_CALLS = [
  { name: 'get_weather', arguments: { city: 'Recife', unit: 'celsius' } },
  { name: 'get_time', arguments: { city: 'Manaus' } },
]

export const WEATHER_TEXT = 'Recife has 29 °C and sun, and in Manaus it is 14:05.'

/**
 * Some providers do not report reasoning tokens separately; some write to a cache in the second turn and
 * report it.
 */
export function weatherUsage(
  cacheWriteTokens: number,
  reasoning = true,
): [ReportedTokens, ReportedTokens] {
  return [
    {
      promptTokens: 1200,
      cachedTokens: 1000,
      cacheWriteTokens: 0,
      completionTokens: 150,
      reasoningTokens: reasoning ? 90 : 0,
    },
    {
      promptTokens: 1400,
      cachedTokens: 1200,
      cacheWriteTokens,
      completionTokens: 40,
      reasoningTokens: 0,
    },
  ]
}

export interface Turn {
  readonly message: JsonObject
  readonly finishReason: unknown
}

/** The content of one turn, in terms that all providers share. */
export function contentAndCallsOf({ message, finishReason }: Turn): JsonObject {
  const calls = (message.tool_calls ?? []) as { function: { name: string; arguments: string } }[]
  return {
    text: message.content === '' ? null : (message.content ?? null),
    thinking: message.reasoning_content ?? null,
    calls: calls.map((call) => ({
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments) as unknown,
    })),
    finishReason,
  }
}

/** The turn in the body of a plain answer. */
export function turnOf(body: JsonObject): Turn {
  const [choice] = body.choices as { message: JsonObject; finish_reason: unknown }[]
  return { message: choice?.message ?? {}, finishReason: choice?.finish_reason }
}

/** The turn in the chunks of a stream, assembled as clients do. */
export function assembleChunks(bodies: readonly JsonObject[]): Turn {
  const message: JsonObject = {}
  const toolCalls: JsonObject[] = []
  let finishReason: unknown
  for (const body of bodies) {
    for (const choice of body.choices as { delta?: JsonObject | null; finish_reason: unknown }[]) {
      finishReason = choice.finish_reason ?? finishReason
      for (const [name, value] of Object.entries(choice.delta ?? {})) {
        // Clients do not take null for a value.
        if (value === null) continue
        // Some upstreams send the role in each delta.
        if (name === 'role') message.role = value
        else if (name === 'tool_calls') addToolCalls(toolCalls, value as JsonObject[])
        else message[name] = joined(message[name], value)
      }
    }
  }
  if (toolCalls.length > 0) message.tool_calls = toolCalls
  return { message, finishReason }
}

function addToolCalls(calls: JsonObject[], deltas: readonly JsonObject[]): void {
  for (const { index, ...delta } of deltas) {
    const call = (calls[index as number] ??= {})
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'function') {
        const known = (call.function ?? {}) as JsonObject
        call.function = known
        for (const [part, text] of Object.entries(value as JsonObject)) {
          known[part] = joined(known[part], text)
        }
      } else if (value !== null && value !== '') call[name] = value
    }
  }
}

function joined(before: unknown, added: unknown): unknown {
  if (typeof before === 'string' && typeof added === 'string') return before + added
  if (Array.isArray(before) && Array.isArray(added)) return [...before, ...added] as unknown[]
  return isObject(before) && isObject(added) ? { ...before, ...added } : added
}

/** What an upstream reports as written to its cache costs what a prompt costs, unless a mark asked for it. */
export function markForCache({ messages }: { messages: JsonObject[] }): void {
  const [, { content }] = messages as [JsonObject, JsonObject]
  const [part] = content as [JsonObject]
  part.cache_control = { type: 'ephemeral' }
}
