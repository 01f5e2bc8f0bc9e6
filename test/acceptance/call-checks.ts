/** Requests of model calls: each field with its bounds, and each error. */
import { parse } from './client.ts'
import { checkRefused, type Context } from './context.ts'

const hello = (more: object = {}): Record<string, unknown> => ({
  model: 'sandbox-chat',
  messages: [{ role: 'user', content: 'Olá!' }],
  ...more,
})
const saying = (...messages: unknown[]): Record<string, unknown> => hello({ messages })

const TAKEN: Readonly<Record<string, object>> = {
  'temperature 0': hello({ temperature: 0 }),
  'temperature 1': hello({ temperature: 1 }),
  'temperature 2': hello({ temperature: 2 }),
  'max_tokens 1': hello({ max_tokens: 1 }),
  'stream false': hello({ stream: false }),
  'all roles': saying(
    { role: 'system', content: 'Seja breve.' },
    { role: 'user', content: 'Oi' },
    { role: 'assistant', content: 'Olá' },
    { role: 'user', content: 'Tudo bem?' },
  ),
  'the role tool': saying(
    { role: 'user', content: 'Quanto é 1 + 1?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'soma', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '2' },
  ),
  'response_format json_object': hello({ response_format: { type: 'json_object' } }),
  tools: hello({
    tools: [{ type: 'function', function: { name: 'soma', parameters: { type: 'object' } } }],
  }),
}

const REFUSED: Readonly<Record<string, unknown>> = {
  'no model': { messages: [{ role: 'user', content: 'x' }] },
  'model a number': hello({ model: 1 }),
  'no messages': { model: 'sandbox-chat' },
  'messages a text': hello({ messages: 'x' }),
  'messages empty': hello({ messages: [] }),
  'message null': saying(null),
  'message without a role': saying({ content: 'x' }),
  'message without content': saying({ role: 'user' }),
  'an unknown role': saying({ role: 'chefe', content: 'x' }),
  'content a number': saying({ role: 'user', content: 1 }),
  'max_tokens 0': hello({ max_tokens: 0 }),
  'max_tokens -1': hello({ max_tokens: -1 }),
  'max_tokens 1.5': hello({ max_tokens: 1.5 }),
  'max_tokens a text': hello({ max_tokens: '5' }),
  'max_tokens absurd': hello({ max_tokens: 1e12 }),
  'temperature -0.1': hello({ temperature: -0.1 }),
  'temperature 2.1': hello({ temperature: 2.1 }),
  'temperature a text': hello({ temperature: '1' }),
  'stream a text': hello({ stream: 'sim' }),
  'tools a text': hello({ tools: 'soma' }),
  'tools of texts': hello({ tools: ['soma'] }),
  'response_format a text': hello({ response_format: 'json' }),
  'no JSON': '{"model":',
  'a list': [],
}

const MEDIA_REFUSED: readonly (readonly [string, string, object])[] = [
  ['/embeddings', 'no model', { input: 'x' }],
  ['/embeddings', 'no input', { model: 'sandbox-embedding' }],
  ['/embeddings', 'input a number', { model: 'sandbox-embedding', input: 1 }],
  ['/embeddings', 'input an object', { model: 'sandbox-embedding', input: {} }],
  ['/images/generations', 'no model', { prompt: 'x' }],
  ['/images/generations', 'no prompt', { model: 'sandbox-image' }],
  ['/images/generations', 'prompt a list', { model: 'sandbox-image', prompt: ['x'] }],
  ['/images/generations', 'size in words', { model: 'sandbox-image', prompt: 'x', size: 'grande' }],
  ['/images/generations', 'n 1.5', { model: 'sandbox-image', prompt: 'x', n: 1.5 }],
  ['/images/generations', 'n 0', { model: 'sandbox-image', prompt: 'x', n: 0 }],
  ['/audio/transcriptions', 'JSON', { model: 'sandbox-transcribe' }],
]

const MISSING: readonly (readonly [string, object])[] = [
  ['/chat/completions', hello({ model: 'nao-existe' })],
  ['/embeddings', { model: 'nao-existe', input: 'x' }],
  ['/images/generations', { model: 'nao-existe', prompt: 'x' }],
]

export async function checkCalls(context: Context): Promise<void> {
  const { checks, server } = context
  // A key of its own address each, so that the limits of a minute are not reached.
  const ask = context.from('198.51.100.10', { key: server.key })
  for (const [title, body] of Object.entries(TAKEN)) {
    const { status, json, text } = await ask('/chat/completions', { body })
    checks.equal(`chat with ${title}: status`, status, 200)
    checkCompletion(context, `chat with ${title}`, json ?? text)
    checks.equal(`chat with ${title}: model`, json?.model, 'sandbox-chat')
    if (title.startsWith('response_format'))
      checks.is('json_object: the content is an object', isObjectText(json))
  }
  for (const [title, body] of Object.entries(REFUSED))
    checkRefused(
      context,
      `chat with ${title}`,
      await ask('/chat/completions', { body }),
      400,
      'invalid_request',
    )
  for (const [path, title, body] of MEDIA_REFUSED)
    checkRefused(
      context,
      `${path} with ${title}`,
      await ask(path, { body }),
      400,
      'invalid_request',
    )
  for (const [path, body] of MISSING)
    checkRefused(
      context,
      `${path} of an unknown model`,
      await ask(path, { body }),
      404,
      'model_not_found',
    )
  await checkFailures(context)
  await checkIds(context)
}

/** What goes wrong upstream, each in its category. */
const FAILING: readonly (readonly [string, number, string])[] = [
  ['sandbox-error-400', 400, 'invalid_request'],
  ['sandbox-error-401', 502, 'upstream_error'],
  ['sandbox-error-429', 429, 'rate_limit_exceeded'],
  ['sandbox-error-500', 502, 'upstream_error'],
  ['sandbox-error-503', 503, 'service_unavailable'],
  ['sandbox-html-error', 502, 'upstream_error'],
  ['sandbox-garbage', 502, 'upstream_error'],
]

async function checkFailures(context: Context): Promise<void> {
  const { checks, server } = context
  const ask = context.from('198.51.100.11', { key: server.key })
  const before = (await ask('/usage')).exact.balance.balance_brl
  for (const [model, status, code] of FAILING)
    checkRefused(
      context,
      model,
      await ask('/chat/completions', { body: hello({ model }) }),
      status,
      code,
    )
  const after = (await ask('/usage')).exact.balance.balance_brl
  checks.equal('calls that fail cost nothing', after, before)
}

async function checkIds(context: Context): Promise<void> {
  const { checks, ask } = context
  const id = '6f1c0a3e-6f5b-4d7a-9a3e-1f0c6b6f2a11'
  const kept = await ask('/healthz', { headers: { 'x-svc-request-id': id } })
  checks.equal(
    'x-svc-request-id of the client comes back',
    kept.headers.get('x-svc-request-id'),
    id,
  )
  const own = await context.quiet()('/healthz', { headers: { 'x-svc-request-id': 'no uuid' } })
  checks.equal(
    'x-svc-request-id that is no uuid comes back, too',
    own.headers.get('x-svc-request-id'),
    'no uuid',
  )
  checks.is(
    'x-request-id is ours then',
    /^[0-9a-f-]{36}$/.test(own.headers.get('x-request-id') ?? ''),
  )
  const longest = { 'x-svc-session-id': 'x'.repeat(80) }
  const kept80 = await ask('/chat/completions', { body: hello(), headers: longest })
  checks.equal('x-svc-session-id of 80 characters', kept80.status, 200)
  checks.equal(
    'GET /me/sessions/{id} of 80 characters',
    (await ask(`/me/sessions/${'x'.repeat(80)}`)).json?.request_count,
    1,
  )
  const long = { 'x-svc-session-id': 'x'.repeat(81) }
  const refused = await ask('/chat/completions', { body: hello(), headers: long })
  checks.equal('x-svc-session-id of 81 characters', refused.status, 400)
}

function isObjectText(json: any): boolean {
  const value = parse(json?.choices?.[0]?.message?.content ?? '', false)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function checkCompletion({ checks }: Context, title: string, json: any): void {
  checks.shape(title, json, {
    id: 'text',
    object: "'chat.completion'",
    created: 'integer',
    model: 'text',
    choices: 'array',
    usage: 'object',
    cost_billed_brl: 'number or absent',
  })
  checks.is(
    `${title}: created is now`,
    Math.abs(json?.created - Date.now() / 1_000) < 120,
    json?.created,
  )
  const [choice] = json?.choices ?? []
  checks.shape(`${title}: a choice`, choice, {
    index: 'integer',
    message: 'object',
    finish_reason: 'text',
  })
  checks.shape(`${title}: the message`, choice?.message, {
    role: 'text',
    content: 'string or null',
  })
  const { prompt_tokens, completion_tokens, total_tokens } = json?.usage ?? {}
  const integer = {
    prompt_tokens: 'integer',
    completion_tokens: 'integer',
    total_tokens: 'integer',
  }
  checks.shape(`${title}: usage`, json?.usage, integer)
  checks.equal(`${title}: total_tokens`, total_tokens, prompt_tokens + completion_tokens)
}
