/**
 * Errors as providers, their proxies and their clouds report them, each with names, hosts, keys and
 * tokens that no other text has. The same seed makes the same errors.
 */

/** How the error reaches the gateway: as an error status, in the body of a 200, or within a stream. */
export type Place = 'answer' | 'ok_body' | 'first_event' | 'middle_event'

export interface InjectedError {
  /** In everything that must not be seen; lower case. */
  readonly marker: string
  readonly place: Place
  /** Of `answer`. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Names that no customer may read; some of the errors are of them, as real ones are. */
export const PROVIDER_NAMES =
  /openai|azure|anthropic|claude|google|gemini|vertex|\baws\b|amazon|bedrock|cohere|mistral|groq|deepseek|openrouter|fireworks|together|\bx-?ai\b|grok|cloudflare|nvidia|zephyr/i

const KNOWN_NAMES = [
  'OpenAI',
  'Anthropic',
  'Google',
  'Gemini',
  'Amazon Bedrock',
  'Azure OpenAI',
  'Cohere',
  'Mistral',
  'Groq',
  'DeepSeek',
  'Together',
  'Fireworks',
]
const MODELS = ['gpt-5-mini', 'claude-sonnet-4-5', 'gemini-3-pro', 'command-r', 'grok-4']

/** Numbers from 0 to 1, always the same. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

/** What the texts of one error are made of. */
interface Words {
  readonly pick: <T>(list: readonly T[]) => T
  readonly whole: (min: number, max: number) => number
  /** A name of a made-up or a known provider, and the marker in any case. */
  readonly name: string
  readonly host: string
  readonly key: string
  readonly id: string
  readonly model: string
}

export function createInjectedError(
  random: () => number,
  index: number,
  places: readonly Place[],
): InjectedError {
  const whole = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1))
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const hex = whole(0, 0xffffffff).toString(16).padStart(8, '0')
  const marker = `qx${hex}z${index.toString(36)}w`
  const shown = pick([marker, marker.toUpperCase(), `Q${marker.slice(1)}`])
  const words: Words = {
    pick,
    whole,
    name: random() < 0.5 ? `${pick(KNOWN_NAMES)} ${shown}` : `Corp${shown}`,
    host: `${pick(['api', 'gateway', 'inference-7', 'internal'])}.${marker}.${pick(['com', 'internal', 'ai'])}`,
    key: `${pick(['sk-', 'sk-ant-', 'AIza', 'AKIA', 'gsk_'])}${shown}`,
    id: `${pick(['req_', 'msg_', 'chatcmpl-', 'arn:aws:bedrock:'])}${shown}`,
    model: `${pick(MODELS)}-${shown}`,
  }
  return {
    marker,
    place: pick(places),
    status: whole(400, 599),
    headers: noise(words),
    body: pick(SHAPES)(words),
  }
}

type Shape = (words: Words) => string

function sentence({ pick, whole, name, host, key, id, model }: Words): string {
  return pick([
    `Incorrect API key provided: ${key}. You can find your API key at https://${host}/account.`,
    `Rate limit reached for ${model} in organization ${id} on tokens per min: Limit ${whole(1, 1e6)}.`,
    `The model ${model} has been deprecated by ${name}.`,
    `${name} is overloaded, retry with ${host}`,
    `Your credit balance is too low to access the ${name} API. Go to https://${host}/billing`,
    `upstream connect error or disconnect/reset before headers: ${host} (${id})`,
    `User: ${id} is not authorized to perform: InvokeModel on resource: ${model}`,
    `This model's maximum context length is ${whole(1, 1e6)} tokens (${name} ${model}).`,
    `invalid_request: messages.0.content: field "${id}" is not permitted by ${name}`,
    `data: {"error":"${id}"}\n\ndata: [DONE]\n\n${name}`,
    `Erro do provedor ${name} no servidor ${host}: chave ${key} recusada`,
  ])
}

const SHAPES: readonly Shape[] = [
  // OpenAI and its likes.
  (words) =>
    JSON.stringify({
      error: {
        message: sentence(words),
        type: words.pick(['invalid_request_error', 'server_error', `${words.name}_error`]),
        param: words.pick([null, words.id]),
        code: words.pick([null, 'invalid_api_key', words.id]),
      },
    }),
  // Anthropic.
  (words) =>
    JSON.stringify({
      type: 'error',
      error: {
        type: words.pick(['overloaded_error', 'invalid_request_error', 'api_error']),
        message: sentence(words),
      },
      request_id: words.id,
    }),
  // Google.
  (words) =>
    JSON.stringify({
      error: {
        code: words.whole(400, 599),
        message: sentence(words),
        status: words.pick(['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'INVALID_ARGUMENT']),
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: words.id,
            domain: words.host,
          },
        ],
      },
    }),
  // A list, as Google's streams have it.
  (words) => JSON.stringify([{ error: { code: 503, message: sentence(words) } }]),
  // AWS.
  (words) =>
    JSON.stringify({
      __type: `com.amazon.${words.id}#ThrottlingException`,
      message: sentence(words),
      Message: words.key,
    }),
  (words) => JSON.stringify({ detail: [{ loc: ['body', words.id], msg: sentence(words) }] }),
  (words) => JSON.stringify({ error: sentence(words) }),
  (words) => JSON.stringify({ message: sentence(words), choices: words.name, data: words.id }),
  (words) => JSON.stringify(sentence(words)),
  // A page of what is in between.
  (words) =>
    `<!DOCTYPE html><html><head><title>502 ${words.name}</title></head><body><h1>Bad gateway</h1><p>${sentence(words)}</p><hr><center>cloudflare ${words.id}</center></body></html>`,
  (words) =>
    `<?xml version="1.0"?><Error><Code>${words.id}</Code><Message>${sentence(words)}</Message></Error>`,
  sentence,
  // A stack.
  (words) =>
    `Traceback (most recent call last):\n  File "/srv/${words.host}/serve.py", line ${words.whole(1, 999)}, in generate\n    raise ${words.name}Error("${words.id}")\nRuntimeError: ${sentence(words)}`,
  (words) =>
    `TypeError: ${sentence(words)}\n    at Object.<anonymous> (/app/node_modules/${words.host}/index.js:${words.whole(1, 99)}:7)`,
  // Half of one, and nearly none.
  (words) => JSON.stringify({ error: { message: sentence(words), id: words.id } }).slice(0, -7),
  (words) => `\u0000\ufeff${words.id}`,
  () => '',
]

function noise(words: Words): Record<string, string> {
  const { pick, whole, host, id, key, model } = words
  const all: Record<string, string> = {
    'content-type': pick([
      'application/json',
      'application/problem+json',
      'text/html; charset=utf-8',
      'text/plain',
      `application/vnd.${host}+json`,
    ]),
    server: `envoy ${host}`,
    via: `1.1 ${host}`,
    'x-request-id': id,
    'x-svc-request-id': id,
    'request-id': id,
    'cf-ray': id,
    'x-amzn-requestid': id,
    'openai-organization': id,
    'anthropic-organization-id': id,
    'x-ratelimit-limit-requests': String(whole(1, 999)),
    'x-ratelimit-limit': id,
    'set-cookie': `session=${key}; Domain=${host}`,
    'www-authenticate': `Bearer realm="${host}"`,
    location: `https://${host}/login`,
    'x-model': model,
    'retry-after': pick([
      String(whole(0, 99_999)),
      '0.5',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      id,
      '-3',
    ]),
  }
  return Object.fromEntries(Object.entries(all).filter(() => whole(0, 2) > 0))
}
