// deep: every field of a request over every kind of upstream
/**
 * Each published field of a request, in each client's format over each kind of upstream: it changes what the upstream
 * gets, or the call is refused before it, or docs/clients.md says that it is lost. Nothing else happens to a field.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured } from '../harness/media-calls.ts'
import { startScriptedServer, type ScriptedServer } from '../providers/scripted-server.ts'

const root = join(import.meta.dirname, '../..')
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const FUNCTION = { name: 'ler', description: 'Lê.', parameters: SCHEMA }
const EPHEMERAL = { type: 'ephemeral' }

/** In the words of the table of losses. */
const UPSTREAMS: Readonly<Record<string, { kind: string; model: string; more?: object }>> = {
  'chat completions': { kind: 'openai-compatible', model: 'gpt-5-mini' },
  Responses: { kind: 'openai-compatible', model: 'gpt-5-mini', more: { speaks_responses: true } },
  Anthropic: { kind: 'anthropic', model: 'claude-sonnet-4-5' },
  Gemini: { kind: 'google', model: 'gemini-3-pro-preview' },
  Bedrock: {
    kind: 'amazon-bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    more: { region: 'us-east-1' },
  },
  Cohere: { kind: 'cohere', model: 'command-a-reasoning-08-2025' },
}

interface ClientFormat {
  readonly path: string
  readonly base: object
  /** A value that says something, by the name of the field; what comes with it is beside it. */
  readonly fields: Readonly<Record<string, object>>
  /** What a gateway writes itself, or what is no more than the conversation. */
  readonly ours: readonly string[]
  readonly published?: readonly [file: string, type: string]
}

const chatTool = { type: 'function', function: FUNCTION }
const responsesTool = { type: 'function', ...FUNCTION }
const geminiTool = { functionDeclarations: [FUNCTION] }
const configOf = (fields: object): object => ({
  generationConfig: { maxOutputTokens: 8_000, ...fields },
})
const messagesTool = { name: 'ler', description: 'Lê.', input_schema: SCHEMA }

const CLIENTS: Readonly<Record<string, ClientFormat>> = {
  'chat completions': {
    path: '/chat/completions',
    base: { max_tokens: 8_000, messages: [{ role: 'user', content: 'Olá' }] },
    published: ['chat/completions/completions', 'ChatCompletionCreateParamsBase'],
    ours: ['messages', 'model', 'stream', 'stream_options', 'max_tokens'],
    fields: {
      audio: { audio: { voice: 'alloy', format: 'mp3' } },
      frequency_penalty: { frequency_penalty: 0.5 },
      function_call: { functions: [FUNCTION], function_call: { name: 'ler' } },
      functions: { functions: [FUNCTION] },
      logit_bias: { logit_bias: { 50256: -100 } },
      logprobs: { logprobs: true },
      max_completion_tokens: { max_completion_tokens: 77, max_tokens: undefined },
      metadata: { metadata: { a: 'b' } },
      modalities: { modalities: ['text', 'audio'] },
      moderation: { moderation: { model: 'omni-moderation-latest' } },
      n: { n: 2 },
      parallel_tool_calls: { tools: [chatTool], parallel_tool_calls: false },
      prediction: { prediction: { type: 'content', content: 'Olá' } },
      presence_penalty: { presence_penalty: 0.5 },
      prompt_cache_key: { prompt_cache_key: 'chave' },
      prompt_cache_options: { prompt_cache_options: { ttl: '30m' } },
      prompt_cache_retention: { prompt_cache_retention: '24h' },
      reasoning_effort: { reasoning_effort: 'high' },
      response_format: {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA } },
      },
      safety_identifier: { safety_identifier: 'alguém' },
      seed: { seed: 7 },
      service_tier: { service_tier: 'flex' },
      stop: { stop: ['fim'] },
      store: { store: true },
      temperature: { temperature: 0.3 },
      tool_choice: { tools: [chatTool], tool_choice: 'required' },
      tools: { tools: [chatTool] },
      top_logprobs: { logprobs: true, top_logprobs: 3 },
      top_p: { top_p: 0.4 },
      user: { user: 'alguém' },
      verbosity: { verbosity: 'low' },
      web_search_options: { web_search_options: {} },
    },
  },
  Responses: {
    path: '/responses',
    base: { max_output_tokens: 8_000, input: [{ role: 'user', content: 'Olá' }] },
    published: ['responses/responses', 'ResponseCreateParamsBase'],
    ours: ['input', 'model', 'stream', 'stream_options', 'store', 'max_output_tokens'],
    fields: {
      access_programs: { access_programs: ['a'] },
      background: { background: true },
      context_management: {
        context_management: [{ type: 'compaction', compact_threshold: 1_000 }],
      },
      conversation: { conversation: 'conv_1' },
      image: { image: { model: 'gpt-image-2' } },
      include: { include: ['message.output_text.logprobs'] },
      instructions: { instructions: 'Seja breve.' },
      max_tool_calls: { max_tool_calls: 2 },
      metadata: { metadata: { a: 'b' } },
      moderation: { moderation: { model: 'omni-moderation-latest' } },
      parallel_tool_calls: { tools: [responsesTool], parallel_tool_calls: false },
      previous_response_id: { previous_response_id: 'resp_1' },
      prompt: { prompt: { id: 'pmpt_1' } },
      prompt_cache_key: { prompt_cache_key: 'chave' },
      prompt_cache_options: { prompt_cache_options: { ttl: '30m' } },
      prompt_cache_retention: { prompt_cache_retention: '24h' },
      reasoning: { reasoning: { effort: 'high' } },
      'reasoning.summary': { reasoning: { summary: 'detailed' } },
      safety_identifier: { safety_identifier: 'alguém' },
      service_tier: { service_tier: 'flex' },
      temperature: { temperature: 0.3 },
      text: { text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA } } },
      'text.verbosity': { text: { verbosity: 'low' } },
      tool_choice: { tools: [responsesTool], tool_choice: 'required' },
      tools: { tools: [responsesTool] },
      top_logprobs: { top_logprobs: 3 },
      top_p: { top_p: 0.4 },
      truncation: { truncation: 'auto' },
      user: { user: 'alguém' },
    },
  },
  Messages: {
    path: '/messages',
    base: { max_tokens: 8_000, messages: [{ role: 'user', content: 'Olá' }] },
    ours: ['max_tokens', 'messages', 'model', 'stream'],
    fields: {
      cache_control: { cache_control: EPHEMERAL },
      container: { container: 'c_1' },
      context_management: {
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      },
      inference_geo: { inference_geo: 'us' },
      mcp_servers: { mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.com' }] },
      metadata: { metadata: { user_id: 'alguém' } },
      'output_config.effort': { output_config: { effort: 'low' } },
      'output_config.format': {
        output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      },
      output_format: { output_format: { type: 'json_schema', schema: SCHEMA } },
      service_tier: { service_tier: 'standard_only' },
      speed: { speed: 'fast' },
      stop_sequences: { stop_sequences: ['fim'] },
      system: { system: 'Seja breve.' },
      temperature: { temperature: 0.3 },
      thinking: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
      tool_choice: { tools: [messagesTool], tool_choice: { type: 'any' } },
      'tool_choice.disable_parallel_tool_use': {
        tools: [messagesTool],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
      tools: { tools: [messagesTool] },
      top_k: { top_k: 7 },
      top_p: { top_p: 0.4 },
    },
  },
  Gemini: {
    path: 'beta/generateContent',
    base: { contents: [{ role: 'user', parts: [{ text: 'Olá' }] }], ...configOf({}) },
    ours: ['contents', 'maxOutputTokens', 'model'],
    fields: {
      cachedContent: { cachedContent: 'cachedContents/1' },
      labels: { labels: { a: 'b' } },
      safetySettings: {
        safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      },
      serviceTier: { serviceTier: 'flex' },
      store: { store: true },
      systemInstruction: { systemInstruction: { parts: [{ text: 'Seja breve.' }] } },
      toolConfig: { tools: [geminiTool], toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      'toolConfig.retrievalConfig': {
        tools: [geminiTool],
        toolConfig: { retrievalConfig: { languageCode: 'pt' } },
      },
      tools: { tools: [geminiTool] },
      'tools.googleSearch': { tools: [{ googleSearch: {} }] },
      candidateCount: configOf({ candidateCount: 2 }),
      enableEnhancedCivicAnswers: configOf({ enableEnhancedCivicAnswers: true }),
      frequencyPenalty: configOf({ frequencyPenalty: 0.5 }),
      imageConfig: configOf({ imageConfig: { aspectRatio: '1:1' } }),
      logprobs: configOf({ responseLogprobs: true, logprobs: 3 }),
      mediaResolution: configOf({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }),
      presencePenalty: configOf({ presencePenalty: 0.5 }),
      responseJsonSchema: configOf({
        responseMimeType: 'application/json',
        responseJsonSchema: SCHEMA,
      }),
      responseMimeType: configOf({ responseMimeType: 'application/json' }),
      responseModalities: configOf({ responseModalities: ['AUDIO'] }),
      responseSchema: configOf({ responseMimeType: 'application/json', responseSchema: SCHEMA }),
      seed: configOf({ seed: 7 }),
      speechConfig: configOf({ speechConfig: {} }),
      stopSequences: configOf({ stopSequences: ['fim'] }),
      temperature: configOf({ temperature: 0.3 }),
      thinkingConfig: configOf({ thinkingConfig: { thinkingLevel: 'HIGH' } }),
      topK: configOf({ topK: 7 }),
      topP: configOf({ topP: 0.4 }),
    },
  },
}

let gateway: TestGateway
let upstream: ScriptedServer

before(async () => {
  // What is refused is billed by nobody, and needs no answer in the upstream's format.
  upstream = await startScriptedServer((_received, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'No.', type: 'invalid_request_error' } }))
  })
  const kinds = Object.entries(UPSTREAMS)
  gateway = await startGateway({
    ...configured({
      upstreams: kinds.map(([id, { kind, more }]) => ({
        id: id.replace(' ', '-'),
        kind,
        base_url: `${upstream.url}/v1`,
        api_key_env: 'LOSSES_KEY',
        retries: 0,
        ...more,
      })),
      models: kinds.map(([id, { model }]) => ({
        id: id.replace(' ', '-'),
        category: 'llm',
        prices: { input: 1, cached_input: '0.1', cache_write: '1.25', output: 2 },
        markup_multiplier: '1.5',
        context_tokens: 100_000,
        max_output_tokens: 8_000,
        supports_tools: true,
        can_reason: true,
        routes: [{ upstream: id.replace(' ', '-'), model }],
      })),
    }),
    LOSSES_KEY: 'a-key',
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

/** What the upstream gets first; undefined if the call was refused before. */
async function sentFor(path: string, body: object): Promise<string | undefined> {
  const from = upstream.received.length
  const { status, text } = await ask(gateway.node.baseUrl, path, {
    secret: gateway.secret,
    method: 'POST',
    body,
  })
  const [first] = upstream.received.slice(from)
  assert.equal(status, 400, text)
  return first?.text
}

/** The documented losses: the table's rows of fields, by client and upstream. */
function documentedLosses(client: string, kind: string): string[] {
  const [, section = ''] = readFileSync(join(root, 'docs/clients.md'), 'utf8').split(
    '### Fields of a request',
  )
  const rows = section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  return rows
    .filter(([, ofClient, ofKind]) => {
      const kinds = ofKind?.split(', ') ?? []
      return ofClient === client && (ofKind === 'any' || kinds.includes(kind))
    })
    .flatMap(([, , , fields = '']) => [...fields.matchAll(/`([^`]+)`/g)].map(([, one]) => one!))
    .toSorted()
}

for (const [client, { path, base, fields, ours, published }] of Object.entries(CLIENTS)) {
  if (published)
    test(`${client}: each published field has a value here`, () => {
      const [file, type] = published
      const text = readFileSync(join(root, `node_modules/openai/resources/${file}.d.ts`), 'utf8')
      const [body = ''] = text.slice(text.indexOf(`interface ${type}`)).split('\n}')
      const names = Array.from(body.matchAll(/^ {4}(\w+)\??:/gm), ([, name]) => name!)
      assert.ok(names.length > 20)
      const known = new Set([...ours, ...Object.keys(fields)])
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
      )
    })

  for (const kind of Object.keys(UPSTREAMS))
    test(`${client} over ${kind}: a field reaches the upstream, is refused, or is in the table of losses`, async () => {
      const model = kind.replace(' ', '-')
      const send = (more: object): Promise<string | undefined> =>
        sentFor(path, { model, ...base, ...more })
      const lost: string[] = []
      for (const [name, value] of Object.entries(fields)) {
        // What only comes with the field is there without it, too.
        const { tools, functions, logprobs } = value as Record<string, unknown>
        const beside = { tools, functions, logprobs }
        const without = Object.keys(value).length > 1 ? beside : {}
        const sent = await send(value)
        const plain = sent && (await send(without))
        if (sent !== undefined && sent === plain) lost.push(name)
      }
      assert.deepEqual(lost.toSorted(), documentedLosses(client, kind))
    })
}
