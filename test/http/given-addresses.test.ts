// deep: every field that takes an address
/**
 * Every place in which a customer gives an address refuses what only this machine, or an upstream in the operator's
 * network, can reach. The places come from the code's own lists of fields and from the description of the interface: a
 * new field without a row here fails. What a name resolves to, redirects and rebinding are for the moment of the
 * connection: `src/platform/lib/guarded-fetch.test.ts`, `test/providers/downloaded-addresses.test.ts` and
 * `test/webhooks/addresses.test.ts`.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { upstreamPresets } from '../../src/money/catalog/upstream-presets.ts'
import {
  CUSTOM_FIELDS,
  FUNCTION_FIELDS,
  TOOL_FIELDS,
} from '../../src/gateway/calls/chat/chat-request.ts'
import {
  FILE_FIELDS,
  IMAGE_FIELDS,
  MESSAGE_FIELDS,
  PART_FIELDS,
} from '../../src/gateway/calls/chat/read-messages.ts'
import * as messageFields from '../../src/gateway/providers/ai-sdk/native-messages/message-fields.ts'
import { OPEN_CHAT_FIELDS } from '../../src/gateway/providers/openai-compatible/chat-deltas.ts'
import * as responseFields from '../../src/gateway/providers/openai-compatible/native-responses/write-native-response.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { isFullEffort } from '../harness/effort.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  INTERNAL_NAMES,
  PRIVATE_HOSTS,
  UNREADABLE_ADDRESSES,
} from '../harness/hostile-addresses.ts'
import { openSession } from '../harness/open-session.ts'
import { isModelCall, operationsOf, readOpenApi, type Schema } from '../harness/operations.ts'

const HOSTILE: readonly string[] = [
  ...PRIVATE_HOSTS.map((host, place) => `${place % 2 === 0 ? 'http' : 'https'}://${host}/x.png`),
  ...INTERNAL_NAMES.map((name) => `https://${name}/x.png`),
  ...UNREADABLE_ADDRESSES,
]
const PUBLIC = 'https://images.example.com/x.png'
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`
const PNG = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n and the rest', 'latin1').toString('base64')}`

/** One upstream of each adapter; of the openai-compatible ones each that treats addresses in its own way. */
const UPSTREAMS: Readonly<Record<string, object>> = {
  opens: { kind: 'openai-compatible', opens_addresses: true },
  own: { kind: 'openai-compatible' },
  responses: { kind: 'openai-compatible', opens_addresses: true, speaks_responses: true },
  anthropic: { kind: 'anthropic' },
  google: { kind: 'google' },
  'google-vertex': { kind: 'google-vertex', project: 'p', location: 'l' },
  'amazon-bedrock': { kind: 'amazon-bedrock', region: 'us-east-1' },
  cohere: { kind: 'cohere' },
}

/** The bodies that arrived at any upstream. */
const arrived: string[] = []
const upstream = createServer(async (request, response) => {
  arrived.push(await text(request))
  response.writeHead(500, { 'content-type': 'application/json' }).end('{}')
})
let file: ConfigFile
let gateway: TestGateway
let baseUrl: string

before(async () => {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
  const prices = { input: '0.01', output: '0.01' }
  file = await writeConfigFile({
    upstreams: Object.entries(UPSTREAMS).map(([id, own]) => ({
      id,
      base_url,
      api_key_env: 'GIVEN_KEY',
      retries: 0,
      breaker: { failures: 0 },
      ...own,
    })) as never,
    models: [
      ...Object.keys(UPSTREAMS).map((id) => ({
        id,
        category: 'llm',
        prices,
        routes: [{ upstream: id, model: /anthropic|bedrock/.test(id) ? 'claude-sonnet-4-5' : id }],
        context_tokens: 100_000,
        max_output_tokens: 100,
        image_tokens_max: 1_000,
      })),
      {
        id: 'judges',
        category: 'embedding',
        moderation: true,
        prices,
        routes: [{ upstream: 'opens', model: 'judges' }],
        image_tokens_max: 1_000,
      },
    ] as never,
  })
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    GIVEN_KEY: 'key',
    RATE_LIMIT_PER_IP: '1000000',
    REST_RATE_LIMIT_PER_KEY: '1000000',
  })
  baseUrl = gateway.node.baseUrl
})
after(async () => {
  await gateway.stop()
  upstream.closeAllConnections()
  upstream.close()
  await file.remove()
})

const user = (...content: object[]): object[] => [{ role: 'user', content }]
const chat = (...content: object[]): object => ({ messages: user(...content) })
const message = (...content: object[]): object => ({ max_tokens: 20, messages: user(...content) })
const response = (...content: object[]): object => ({
  max_output_tokens: 20,
  input: user(...content),
})
const urlSource = (url: string): object => ({ type: 'url', url })
const image = (url: string): object => ({ type: 'image', source: urlSource(url) })
const toolResult = (content: object[]): object => ({
  max_tokens: 20,
  messages: [
    { role: 'user', content: 'Oi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
  ],
})
const callOutput = (kind: 'function_call' | 'custom_tool_call', output: object[]): object => ({
  max_output_tokens: 20,
  input: [
    { role: 'user', content: 'Oi' },
    {
      type: kind,
      call_id: 'call_1',
      name: 'f',
      ...(kind === 'function_call' ? { arguments: '{}' } : { input: 'x' }),
    },
    { type: `${kind}_output`, call_id: 'call_1', output },
  ],
})
const inputImage = (image_url: unknown): object => ({ type: 'input_image', image_url })

interface Place {
  readonly path: string
  readonly body: (address: string) => object
  /** The model whose upstream gets a public address as it is; undefined where no address is taken. */
  readonly passesTo?: string
  /** An upstream gets the image and never its address. */
  readonly isDownloaded?: true
  /** We open the address of a document: nothing is sent where it leads to none (`documents-by-address.test.ts`). */
  readonly isDocument?: true
}

const CHAT = '/chat/completions'
const GEMINI = 'beta/generateContent'
const fileData = (fileUri: string): object => ({ fileData: { mimeType: 'image/png', fileUri } })
const fileUriOf = (fileUri: string): object => ({
  fileData: { mimeType: 'application/pdf', fileUri },
})
const PLACES: Readonly<Record<string, Place>> = {
  'image_url of a chat': {
    path: CHAT,
    passesTo: 'opens',
    body: (url) => chat({ type: 'image_url', image_url: { url } }),
  },
  'image_url of a tool of a chat': {
    path: CHAT,
    passesTo: 'opens',
    body: (url) => ({
      messages: [
        { role: 'user', content: 'Oi' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'image_url', image_url: { url } }] },
      ],
    }),
  },
  'image_url of a moderation': {
    path: '/moderations',
    isDownloaded: true,
    body: (url) => ({ model: 'judges', input: [{ type: 'image_url', image_url: { url } }] }),
  },
  'file_url of a chat': {
    path: CHAT,
    isDocument: true,
    body: (file_url) => chat({ type: 'file', file: { file_url } }),
  },
  'file_data of a chat': {
    path: CHAT,
    isDocument: true,
    body: (file_data) => chat({ type: 'file', file: { filename: 'a.pdf', file_data } }),
  },
  'image of a message': {
    path: '/messages',
    passesTo: 'anthropic',
    body: (url) => message(image(url)),
  },
  'image of a result in a message': {
    path: '/messages',
    passesTo: 'anthropic',
    body: (url) => toolResult([image(url)]),
  },
  'image in a document of a message': {
    path: '/messages',
    passesTo: 'anthropic',
    body: (url) =>
      message({ type: 'document', source: { type: 'content', content: [image(url)] } }),
  },
  'document of a message': {
    path: '/messages',
    isDocument: true,
    body: (url) => message({ type: 'document', source: urlSource(url) }),
  },
  'document of a result in a message': {
    path: '/messages',
    isDocument: true,
    body: (url) => toolResult([{ type: 'document', source: urlSource(url) }]),
  },
  'input_image of a response': {
    path: '/responses',
    passesTo: 'responses',
    body: (url) => response(inputImage(url)),
  },
  'input_image of a response, as in a chat': {
    path: '/responses',
    passesTo: 'opens',
    body: (url) => response(inputImage({ url })),
  },
  'input_image of a result in a response': {
    path: '/responses',
    passesTo: 'responses',
    body: (url) => callOutput('function_call', [inputImage(url)]),
  },
  'input_image of the result of a custom tool': {
    path: '/responses',
    passesTo: 'responses',
    body: (url) => callOutput('custom_tool_call', [inputImage(url)]),
  },
  'fileData of a content': {
    path: GEMINI,
    passesTo: 'opens',
    body: (url) => ({ contents: [{ parts: [fileData(url)] }] }),
  },
  'fileData of a result in a content': {
    path: GEMINI,
    passesTo: 'opens',
    body: (url) => ({
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
        { parts: [{ functionResponse: { name: 'f', response: {}, parts: [fileData(url)] } }] },
      ],
    }),
  },
  'fileData of a document': {
    path: GEMINI,
    isDocument: true,
    body: (url) => ({ contents: [{ parts: [fileUriOf(url)] }] }),
  },
  'inlineData of a content': {
    path: GEMINI,
    body: (data) => ({ contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }),
  },
  'file_url of a response': {
    path: '/responses',
    isDocument: true,
    body: (file_url) => response({ type: 'input_file', file_url }),
  },
  'file_url of a result in a response': {
    path: '/responses',
    isDocument: true,
    body: (file_url) => callOutput('function_call', [{ type: 'input_file', file_url }]),
  },
  'file_data of a response': {
    path: '/responses',
    body: (file_data) =>
      response({ type: 'input_file', filename: 'a.pdf', file_data: `data:${file_data}` }),
  },
}

const send = (path: string, model: string, body: object): Promise<Asked> =>
  ask(baseUrl, path, { secret: gateway.secret, body: { model, ...body } })

const MODELS = Object.keys(UPSTREAMS)

/**
 * The ordinary run sends each address to each place by one model, another one each time: so each place has each model
 * with addresses of every kind, and each address has each model. A full one sends all.
 */
function modelsFor(place: number, address: number): string[] {
  if (isFullEffort) return MODELS
  const turn = place + address + Math.floor(address / MODELS.length)
  return [MODELS[turn % MODELS.length] as string]
}

for (const [place, [name, { path, body, passesTo, isDownloaded, isDocument }]] of Object.entries(
  PLACES,
).entries()) {
  test(`no upstream of any kind gets a hostile address: ${name}`, async () => {
    arrived.length = 0
    for (const [number, address] of HOSTILE.entries())
      await Promise.all(
        modelsFor(place, number).map(async (model) => {
          const { status, text: answered } = await send(path, model, body(address))
          assert.equal(status, 400, `${model} ${JSON.stringify(address)}: ${answered}`)
        }),
      )
    assert.deepEqual([...arrived], [])
    // Otherwise the place would refuse everything, and the rest would show nothing.
    const answer = await send(path, passesTo ?? 'opens', body(isDownloaded ? PNG : PUBLIC))
    if (isDocument) assert.match(answer.text, /O conteúdo de um endereço/)
    if (isDownloaded) assert.equal(arrived.length, 1)
    else if (passesTo === undefined) assert.equal(answer.status, 400, answer.text)
    else assert.ok(arrived[0]?.includes(PUBLIC), `${answer.text} ${arrived[0]}`)
  })
}

/** The kinds of fields that no upstream opens. */
const UNOPENED = ['text', 'data', 'schema', 'setting', 'parts']
/** One of these, or a name of `PLACES`. */
type Row = string

/** Each field that can reach an upstream, by its owner. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'a message of a chat': {
    role: 'setting',
    content: 'parts',
    name: 'text',
    tool_calls: 'text',
    tool_call_id: 'text',
    function_call: 'text',
    refusal: 'text',
    reasoning_content: 'text',
    reasoning: 'text',
    reasoning_details: 'text',
    extra_content: 'data',
    prefix: 'setting',
  },
  'a text of a chat': { type: 'setting', text: 'text', cache_control: 'setting' },
  'a refusal of a chat': { type: 'setting', refusal: 'text' },
  'a image_url of a chat': {
    type: 'setting',
    image_url: 'image_url of a chat',
    cache_control: 'setting',
  },
  'a file of a chat': { type: 'setting', file: 'file_data of a chat', cache_control: 'setting' },
  'an image of a chat': { url: 'image_url of a chat', detail: 'setting' },
  'the file of a file': { filename: 'text', file_data: 'file_data of a chat' },
  'a chat': {
    ...Object.fromEntries(
      [...OPEN_CHAT_FIELDS]
        .filter((field) =>
          /^(n|stop|temperature|top_|.*_penalty|logit_bias|logprobs|seed|min_|typical_p|random_seed|safe_prompt|reasoning|include_reasoning|thinking|enable_thinking|verbosity|parallel_tool_calls|tool_choice|function_call)/.test(
            field,
          ),
        )
        .map((field) => [field, 'setting' as const]),
    ),
    messages: 'parts',
    tools: 'schema',
    functions: 'schema',
    response_format: 'schema',
    user: 'text',
    prompt_cache_key: 'text',
    safety_identifier: 'text',
  },
  'a tool of a chat': {
    type: 'setting',
    function: 'schema',
    custom: 'text',
    cache_control: 'setting',
  },
  'the function of a tool': {
    name: 'text',
    description: 'text',
    parameters: 'schema',
    strict: 'setting',
  },
  'the custom of a tool': { name: 'text', description: 'text', format: 'text' },
  'a text of user': { type: 'setting', text: 'text' },
  'a image of user': { type: 'setting', source: 'image of a message' },
  'a document of user': {
    type: 'setting',
    source: 'document of a message',
    title: 'text',
    context: 'text',
  },
  // Where the customer found it: quoted in the answer.
  'a search_result of user': { type: 'setting', source: 'text', title: 'text', content: 'parts' },
  'a tool_result of user': {
    type: 'setting',
    tool_use_id: 'text',
    content: 'image of a result in a message',
    is_error: 'setting',
  },
  'a text of assistant': { type: 'setting', text: 'text' },
  'a tool_use of assistant': { type: 'setting', id: 'text', name: 'text', input: 'text' },
  'a tool_reference of user': { type: 'setting', tool_name: 'text' },
  'a tool_addition of system': { type: 'setting', tool: 'text' },
  'a tool_removal of system': { type: 'setting', tool: 'text' },
  'a thinking of assistant': { type: 'setting', thinking: 'text', signature: 'data' },
  'a redacted_thinking of assistant': { type: 'setting', data: 'data' },
  'a server_tool_use of assistant': { type: 'setting', id: 'text', name: 'text', input: 'text' },
  'a web_search_tool_result of assistant': {
    type: 'setting',
    tool_use_id: 'text',
    content: 'parts',
  },
  'a text of system': { type: 'setting', text: 'text' },
  // As the provider's search found it: sent back beside its sealed content.
  'a result of a search': {
    type: 'setting',
    url: 'text',
    title: 'text',
    encrypted_content: 'data',
    page_age: 'text',
    error_code: 'text',
  },
  'a base64 source': { type: 'setting', media_type: 'setting', data: 'data' },
  'a text source': { type: 'setting', media_type: 'setting', data: 'text' },
  'a content source': { type: 'setting', content: 'image in a document of a message' },
  'a url source': { type: 'setting', url: 'image of a message' },
  'a tool of a message': {
    type: 'setting',
    name: 'text',
    description: 'text',
    input_schema: 'schema',
    strict: 'setting',
    eager_input_streaming: 'setting',
  },
  // Domains that the provider's own search may find: it opens pages of the internet, from its own network.
  'the search of a message': {
    allowed_domains: 'setting',
    blocked_domains: 'setting',
    user_location: 'setting',
  },
  'a message of a response': {
    type: 'setting',
    role: 'setting',
    content: 'parts',
    phase: 'setting',
  },
  'a function_call of a response': {
    type: 'setting',
    call_id: 'text',
    name: 'text',
    arguments: 'text',
  },
  'a function_call_output of a response': {
    type: 'setting',
    call_id: 'text',
    output: 'input_image of a result in a response',
  },
  'a custom_tool_call of a response': {
    type: 'setting',
    call_id: 'text',
    name: 'text',
    input: 'text',
  },
  'a custom_tool_call_output of a response': {
    type: 'setting',
    call_id: 'text',
    output: 'input_image of the result of a custom tool',
  },
  'a reasoning of a response': { type: 'setting', summary: 'text', encrypted_content: 'data' },
  'a input_text of a response': { type: 'setting', text: 'text' },
  'a output_text of a response': { type: 'setting', text: 'text' },
  'a summary_text of a response': { type: 'setting', text: 'text' },
  'a refusal of a response': { type: 'setting', refusal: 'text' },
  'a input_image of a response': {
    type: 'setting',
    image_url: 'input_image of a response',
    detail: 'setting',
  },
  'a input_file of a response': {
    type: 'setting',
    file_data: 'file_data of a response',
    filename: 'text',
  },
  'a function tool of a response': {
    type: 'setting',
    name: 'text',
    description: 'text',
    parameters: 'schema',
    strict: 'setting',
  },
  'a custom tool of a response': {
    type: 'setting',
    name: 'text',
    description: 'text',
    format: 'text',
  },
  'the search of a response': {
    filters: 'setting',
    user_location: 'setting',
    search_context_size: 'setting',
    external_web_access: 'setting',
  },
  'a response': {
    instructions: 'text',
    temperature: 'setting',
    top_p: 'setting',
    parallel_tool_calls: 'setting',
    prompt_cache_key: 'text',
    safety_identifier: 'text',
    user: 'text',
  },
}

type Fields = ReadonlyMap<string, ReadonlySet<string>>
const named = (fields: Fields, nameOf: (type: string) => string): [string, Iterable<string>][] =>
  [...fields].map(([type, names]) => [nameOf(type), names])

test('each field that can reach an upstream is no address, or has a place above', () => {
  const lists: Readonly<Record<string, Iterable<string>>> = Object.fromEntries([
    ['a message of a chat', MESSAGE_FIELDS],
    ...named(PART_FIELDS, (type) => `a ${type} of a chat`),
    ['an image of a chat', IMAGE_FIELDS],
    ['the file of a file', FILE_FIELDS],
    ['a chat', OPEN_CHAT_FIELDS],
    ['a tool of a chat', TOOL_FIELDS],
    ['the function of a tool', FUNCTION_FIELDS],
    ['the custom of a tool', CUSTOM_FIELDS],
    ...Object.entries(messageFields.BLOCK_FIELDS).flatMap(([role, fields]) =>
      named(fields, (type) => `a ${type} of ${role}`),
    ),
    ...named(messageFields.SEARCH_BLOCK_FIELDS, (type) => `a ${type} of assistant`),
    ['a result of a search', messageFields.SEARCH_RESULT_FIELDS],
    ...named(messageFields.SOURCE_FIELDS, (type) => `a ${type} source`),
    ['a tool of a message', messageFields.TOOL_FIELDS],
    ['the search of a message', messageFields.SEARCH_TOOL_FIELDS],
    ...named(responseFields.ITEM_FIELDS, (type) => `a ${type} of a response`),
    ...named(responseFields.PART_FIELDS, (type) => `a ${type} of a response`),
    ...named(responseFields.TOOL_FIELDS, (type) => `a ${type} tool of a response`),
    ['the search of a response', responseFields.SEARCH_TOOL_FIELDS],
    ['a response', responseFields.PLAIN_FIELDS],
  ])
  const sorted = (names: Iterable<string>): string[] => [...names].toSorted()
  assert.deepEqual(sorted(Object.keys(FIELDS)), sorted(Object.keys(lists)))
  const known = new Set([...UNOPENED, ...Object.keys(PLACES)])
  for (const row of Object.values(FIELDS).flatMap((fields) => Object.values(fields)))
    assert.ok(known.has(row), row)
  for (const [owner, fields] of Object.entries(lists))
    assert.deepEqual(sorted(Object.keys(FIELDS[owner] ?? {})), sorted(fields), owner)
  const kinds = Object.values(upstreamPresets).map(({ adapter }) => adapter)
  const tried = Object.values(UPSTREAMS).map((own) => (own as { kind: string }).kind)
  assert.deepEqual(sorted(new Set(tried)), sorted(new Set(kinds)))
})

/** Fields by which some upstream, or some other gateway, takes an address. */
const INVENTED = [
  'url',
  'uri',
  'href',
  'src',
  'link',
  'source',
  'image_url',
  'images',
  'video_url',
  'audio_url',
  'input_audio',
  'file_url',
  'fileUri',
  'fileData',
  'file_data',
  'file_id',
  'documents',
  'server_url',
  'mcp_servers',
  'connector_id',
  'container',
  'endpoint',
  'base_url',
  'api_base',
  'proxy',
  'webhook',
  'callback_url',
  'extra_body',
  'extra_headers',
  'plugins',
  'data_sources',
] as const
const INVENTED_TYPES = [
  'video_url',
  'audio_url',
  'input_audio',
  'input_video',
  'image_file',
  'document_url',
  'file_url',
  'document',
  'input_file',
  'file',
  'resource_link',
  'container_upload',
  'computer_screenshot',
] as const
const INVENTED_TOOLS = [
  'mcp',
  'web_fetch_20250910',
  'web_fetch',
  'url_context',
  'file_search',
  'code_interpreter',
  'image_generation',
  'retrieval',
] as const
const MARK = 'http://169.254.169.254/mark'
const AS: readonly unknown[] = [
  MARK,
  [MARK],
  { url: MARK },
  { type: 'url', url: MARK, uri: MARK, fileUri: MARK },
  [{ type: 'url', url: MARK, server_url: MARK }],
]
/** The customer's own JSON, which passes as it is. */
const FREE: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema', 'input_free'])

/** Adds the field to every object of the body that does not have it. */
function everywhere(value: unknown, field: string, added: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => everywhere(each, field, added))
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.entries(value).map(([key, each]) => [
    key,
    FREE.has(key) || (key === 'input' && !Array.isArray(each))
      ? each
      : everywhere(each, field, added),
  ])
  return { [field]: added, ...Object.fromEntries(inner) }
}

function placesOfMark(value: unknown, place: string): string[] {
  if (typeof value === 'string') return value.includes('169.254') ? [place] : []
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, each]) =>
    placesOfMark(each, isList ? `${place}[]` : `${place}.${key}`),
  )
}

const tool = { name: 'f', description: 'Uma', parameters: { type: 'object', properties: {} } }
const SAMPLES: Readonly<Record<string, (parts: object[], tools: object[]) => object>> = {
  [CHAT]: (parts, tools) => ({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Oi' }] },
      ...user({ type: 'text', text: 'Oi' }, { type: 'image_url', image_url: { url: PNG } }),
      ...user({ type: 'file', file: { filename: 'a.pdf', file_data: PDF } }, ...parts),
    ],
    tools: [
      { type: 'function', function: tool },
      { type: 'custom', custom: { name: 'g', description: 'Outra' } },
      ...tools,
    ],
    functions: [tool],
  }),
  '/messages': (parts, tools) => ({
    ...message(
      { type: 'text', text: 'Oi' },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: PNG.split(',')[1] },
      },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: PDF.split(',')[1] },
      },
      ...parts,
    ),
    tools: [{ name: 'f', description: 'Uma', input_schema: { type: 'object' } }, ...tools],
  }),
  '/responses': (parts, tools) => ({
    ...response(
      { type: 'input_text', text: 'Oi' },
      inputImage(PNG),
      { type: 'input_file', filename: 'a.pdf', file_data: PDF },
      ...parts,
    ),
    tools: [{ type: 'function', ...tool }, ...tools],
  }),
}

test('no field, part or tool that is on no list carries an address to an upstream', async () => {
  arrived.length = 0
  const bodies = Object.entries(SAMPLES).flatMap(([path, sample]) => [
    [path, sample([], [])] as const,
    ...INVENTED.flatMap((field) =>
      AS.map((added) => [path, everywhere(sample([], []), field, added) as object] as const),
    ),
    ...INVENTED_TYPES.map((type) => {
      const part = { type, [type]: { url: MARK, file_url: MARK }, url: MARK, file_url: MARK }
      return [path, sample([{ ...part, source: urlSource(MARK) }], [])] as const
    }),
    ...INVENTED_TOOLS.map((type) => {
      const own = { type, name: type, server_url: MARK, url: MARK, urls: [MARK], container: MARK }
      return [path, sample([], [own])] as const
    }),
  ])
  for (const [path, body] of bodies)
    await Promise.all(MODELS.map((model) => send(path, model, body)))
  assert.ok(arrived.length > 100, `${arrived.length} requests arrived`)
  const places = arrived
    .filter((body) => body.includes('169.254'))
    .flatMap((body) => placesOfMark(JSON.parse(body), ''))
  assert.deepEqual([...new Set(places)], [])
})

/** Names of fields that could be an address, of the interface's bodies and queries. */
const ADDRESS_NAME =
  /(^|_)(url|uri|href|link|address|endpoint|host|domain|origin|server|callback|source|redirect)(es|s)?$/i

/** Each such field that is not of a model call: what it is. */
const GIVEN: Readonly<Record<string, 'webhook' | 'destination' | 'provider'>> = {
  'POST /webhooks url': 'webhook',
  'PATCH /webhooks/{id} url': 'webhook',
  'POST /usage/destinations url': 'destination',
  'PATCH /usage/destinations/{id} url': 'destination',
  // upstreams.test.ts: what an operator adds in the browser reaches no private network.
  'POST /admin/upstreams base_url': 'provider',
}

function addressesIn(schema: Schema | undefined, under = ''): string[] {
  // One of a list is no address of the caller's choice.
  if (!schema || schema.enum) return []
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const ofProperties = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => [
    ...((ADDRESS_NAME.test(name) && !each.enum) || /^(uri|url|hostname|iri)/.test(each.format ?? '')
      ? [under + name]
      : []),
    ...addressesIn(each, `${under}${name}.`),
  ])
  return [
    ...ofProperties,
    ...inner.flatMap((each) => addressesIn(each, under)),
    ...addressesIn(schema.items, under),
  ]
}

test('each address that the interface takes has a row, and webhooks and destinations refuse the hostile ones', async () => {
  const operations = operationsOf(await readOpenApi(baseUrl))
  const taken = [...operations.values()]
    .filter((operation) => !isModelCall(operation))
    .flatMap(({ name, described }) => {
      const bodies = Object.values(described.requestBody?.content ?? {})
      const inBody = bodies.flatMap(({ schema }) => addressesIn(schema))
      const inQuery = (described.parameters ?? []).map((each) => each.name)
      return [...inBody, ...inQuery.filter((each) => ADDRESS_NAME.test(each))].map(
        (field) => `${name} ${field}`,
      )
    })
  assert.deepEqual([...new Set(taken)].toSorted(), Object.keys(GIVEN).toSorted())
  const calls = [...operations.values()].filter(
    (operation) => isModelCall(operation) && operation.method === 'POST',
  )
  const formats = new Set(Object.values(PLACES).map(({ path }) => path))
  assert.deepEqual(
    calls
      .map(({ path }) => path)
      // The lines of a batch are read as the calls that they are.
      .filter((path) => !formats.has(path) && !/^\/(messages\/)?(batches|files)/.test(path))
      .toSorted(),
    // Texts and bytes alone.
    [
      '/audio/speech',
      '/audio/transcriptions',
      '/audio/translations',
      '/completions',
      '/embeddings',
      '/images/edits',
      '/images/generations',
      '/messages/count_tokens',
      '/rerank',
      // Read as `/responses`.
      '/responses/compact',
      '/responses/input_tokens',
      '/videos',
    ],
  )

  const { db } = gateway.database
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, gateway.customerId)
  const asWebhook = { secret: session }
  const made = await ask(baseUrl, '/webhooks', { ...asWebhook, body: { url: PUBLIC } })
  assert.equal(made.status, 201, made.text)
  for (const url of HOSTILE) {
    const created = await ask(baseUrl, '/webhooks', { ...asWebhook, body: { url } })
    const path = `/webhooks/${made.json.id ?? made.json.webhook?.id}`
    const changed = await ask(baseUrl, path, { ...asWebhook, method: 'PATCH', body: { url } })
    assert.deepEqual([created.status, changed.status], [400, 400], url)
  }
  const stored = await db.selectFrom('webhook_endpoints').select('url').execute()
  assert.deepEqual(stored, [{ url: PUBLIC }])

  const asDestination = (url: string) => ({ kind: 'otlp', url })
  const destination = await ask(baseUrl, '/usage/destinations', {
    ...asWebhook,
    body: asDestination(PUBLIC),
  })
  assert.equal(destination.status, 201, destination.text)
  for (const url of HOSTILE) {
    const body = asDestination(url)
    const created = await ask(baseUrl, '/usage/destinations', { ...asWebhook, body })
    const path = `/usage/destinations/${destination.json.id}`
    const change = { ...asWebhook, method: 'PATCH', body: { url } }
    const changed = await ask(baseUrl, path, change)
    assert.deepEqual([created.status, changed.status], [400, 400], url)
  }
  const destinations = await db.selectFrom('usage_destinations').select('url').execute()
  assert.deepEqual(destinations, [{ url: PUBLIC }])
})
