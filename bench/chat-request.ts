/**
 * The one conversation that measures every target: the load generator's request, the upstream's
 * answer, and so the answer that a target must return. The bytes are the same for every target.
 */

/** Twenty tokens. Two are not ASCII, which exposes a target that cuts characters in half. */
export const answerTokens: readonly string[] = (
  'A| catraca| gira| quando| há| saldo|;| sem| saldo|,| ninguém| passa| e|' +
  ' nada| é| cobrado| duas| vezes| nunca|.'
).split('|')

export const answerText = answerTokens.join('')

/** At one token every 500 ms a slow stream lasts 30 s. */
export const slowTokenCount = 60
export const slowTokenMs = 500

/** A token of a slow stream. ASCII without quotes, so that the raw bytes can be searched for it. */
export const slowToken = ' gira'

/** A stream of a fast model: it lasts 3 s. */
export const pacedTokenCount = 150
export const pacedTokenMs = 20

export const fastModel = 'bench-fast'
export const slowModel = 'bench-slow'
export const pacedModel = 'bench-paced'
/** Answers with one large tool call. */
export const largeModel = 'bench-large'

/** Answers after two seconds. */
export const lateModel = 'bench-late'
export const lateMs = 2000
/** Answers at once, by its second route: the first is dead. */
export const deadFirstModel = 'bench-dead-first'
/** Nothing listens there. */
export const deadPort = 1

export const largeBytes = { prompt: 100_000, toolCall: 50_000 }
/** Of a streamed tool call. */
export const largeEventCount = 500

/** Reported by the upstream; far below the bytes of the prompt, as real token counts are. */
export const promptTokenCount = 92

export type Mode = 'plain' | 'stream'

const system = {
  role: 'system',
  content:
    'You are the assistant of a small bakery in Recife. Answer in Portuguese, in one or two ' +
    'sentences, without lists, and say so when you do not know.',
}
const user = {
  role: 'user',
  content:
    'Bom dia! Comprei ontem dois bolos de rolo para uma festa e queria saber por quantos dias ' +
    'eles se conservam fora da geladeira, e se posso congelar o que sobrar sem estragar a massa.',
}
const messages = [system, user]

const shared = { messages, max_tokens: 64, temperature: 0.7 }

/** The formats that clients speak; the upstream of the benchmark speaks each of them. */
export const formats = ['chat', 'messages', 'responses'] as const
export type Format = (typeof formats)[number]

/** The model that an upstream of this format serves: the gateway passes such requests natively. */
export const modelOfFormat: Readonly<Record<Format, string>> = {
  chat: fastModel,
  messages: 'bench-messages',
  responses: 'bench-responses',
}

/** Streams one token every 500 ms, as `bench-slow` does, over an upstream of this format. */
export const slowModelOfFormat: Readonly<Record<Format, string>> = {
  chat: slowModel,
  messages: 'bench-messages-slow',
  responses: 'bench-responses-slow',
}

/** Streams one token every 20 ms, as `bench-paced` does, over an upstream of this format. */
export const pacedModelOfFormat: Readonly<Record<Format, string>> = {
  chat: pacedModel,
  messages: 'bench-messages-paced',
  responses: 'bench-responses-paced',
}

/** The type of the events that add text. */
export const deltaOfFormat: Readonly<Record<Exclude<Format, 'chat'>, string>> = {
  messages: 'content_block_delta',
  responses: 'response.output_text.delta',
}

/** The end of the last event of a stream. */
export const endOfFormat: Readonly<Record<Format, string>> = {
  chat: '[DONE]',
  messages: 'stop"}',
  responses: '}\n\n',
}

export const pathOfFormat: Readonly<Record<Format, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}

/** The same conversation in each format. */
export function bodyOfFormat(format: Format, mode: Mode | 'paced'): string {
  const stream = mode === 'plain' ? {} : { stream: true }
  const model = (mode === 'paced' ? pacedModelOfFormat : modelOfFormat)[format]
  const tokensMax = mode === 'paced' ? 256 : 64
  if (format === 'chat')
    return JSON.stringify({ model, ...shared, max_tokens: tokensMax, ...stream })
  const limits = { model, temperature: 0.7, ...stream }
  if (format === 'messages')
    return JSON.stringify({
      ...limits,
      max_tokens: tokensMax,
      system: system.content,
      messages: [user],
    })
  return JSON.stringify({
    ...limits,
    max_output_tokens: tokensMax,
    instructions: system.content,
    input: [user],
  })
}

/** The request bodies, as JSON. The client does not ask for usage in the stream: most do not. */
export const requestBodies: Readonly<Record<Mode | 'slow', string>> = {
  plain: JSON.stringify({ model: fastModel, ...shared }),
  stream: JSON.stringify({ model: fastModel, ...shared, stream: true }),
  slow: JSON.stringify({ model: slowModel, ...shared, stream: true }),
}

/** A plain chat with this model. */
export function bodyFor(model: string): string {
  return JSON.stringify({ model, ...shared })
}

/** A plain chat of so many tokens, with four bytes each. */
export function promptBody(tokens: number): string {
  const content = 'gira '.repeat(Math.floor((tokens * 4) / 5))
  return JSON.stringify({
    model: fastModel,
    ...shared,
    messages: [system, { role: 'user', content }],
  })
}

/** What makes a request large: what is sent, or what is answered. */
export const loads = ['prompt', 'tool call'] as const
export type LargeLoad = (typeof loads)[number]

/** A prompt of 100 kB with a short answer, or a short prompt with a tool call of 50 kB. */
export function largeBody(load: LargeLoad, mode: Mode): string {
  const stream = mode === 'stream' ? { stream: true } : {}
  if (load === 'tool call')
    return JSON.stringify({ model: largeModel, messages, max_tokens: 32_000, tools, ...stream })
  const text = 'Bolo de rolo se conserva por alguns dias, e a massa não estraga. '
  const long = { role: 'user', content: text.repeat(largeBytes.prompt / text.length) }
  return JSON.stringify({ model: fastModel, ...shared, messages: [system, long, user], ...stream })
}

const tools = [
  {
    type: 'function',
    function: {
      name: 'write_file',
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
    },
  },
]
