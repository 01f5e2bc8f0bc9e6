/** Providers that talk to the fixture server, and the answers expected from them. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import {
  StreamBroken,
  type ChatCall,
  type JsonObject,
  type Provider,
  type ReportedTokens,
  type UpstreamFailure,
} from '../../src/gateway/providers/contract.ts'
import type { AiSdkOptions } from '../../src/gateway/providers/ai-sdk/ai-sdk-options.ts'
import { createAiSdkProvider } from '../../src/gateway/providers/ai-sdk/create-ai-sdk-provider.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { TOKEN_PATH } from './fixture-server.ts'
import { assembleChunks, turnOf, type Turn } from './weather-conversation.ts'

export interface TestProvider {
  readonly name: string
  readonly model: string
  /** The usage that it reports of the conversation beside the tokens that all providers report. */
  readonly reports: { readonly reasoning: boolean; readonly cacheWriteTokens: number }
  /** The usage of the short fixtures. */
  readonly promptTokens: number
  /** The failure that its error event becomes. */
  readonly errorEvent: UpstreamFailure
  open(url: string, changes?: Partial<AiSdkOptions>): Provider
}

export const LIMITS = {
  cancelStopsBilling: true,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 2_000,
  idleTimeoutMs: 2_000,
  connectionsMax: 4,
}

export const OPENAI: TestProvider = {
  name: 'openai',
  model: 'gpt-5-mini',
  reports: { reasoning: true, cacheWriteTokens: 0 },
  promptTokens: 50,
  errorEvent: serverError(500),
  open: (url) =>
    createOpenAiCompatible({
      baseUrl: `${url}/openai/v1`,
      apiKey: 'key-of-openai',
      maxTokensField: 'max_completion_tokens',
      ...LIMITS,
    }),
}

/** An RSA key that exists only for this test run. One of 2,048 bits takes a tenth of a second in each process. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })

export const ANTHROPIC: TestProvider = {
  name: 'anthropic',
  model: 'claude-sonnet-4-5',
  reports: { reasoning: true, cacheWriteTokens: 120 },
  promptTokens: 50,
  errorEvent: serverError(529, 'overloaded_error'),
  open: openAt('anthropic', '/anthropic/v1'),
}

export const GOOGLE: TestProvider = {
  name: 'google',
  model: 'gemini-3-pro-preview',
  reports: { reasoning: true, cacheWriteTokens: 0 },
  promptTokens: 300,
  errorEvent: serverError(503, 'UNAVAILABLE'),
  open: openAt('google', '/google/v1beta'),
}

const VERTEX_PATH = '/vertex/v1/projects/own/locations/us-central1/publishers/google'
const PLACE = { project: 'own', location: 'us-central1' }

export const VERTEX: TestProvider = {
  ...GOOGLE,
  name: 'google-vertex',
  model: 'gemini-2.5-pro',
  open: openAt('google-vertex', VERTEX_PATH, { vertex: PLACE }),
}

export const VERTEX_CLAUDE: TestProvider = {
  ...ANTHROPIC,
  name: 'google-vertex with Claude',
  model: 'claude-sonnet-4-5@20250929',
  open: openByAccount,
}

/** With a service account, and without a key of express mode. */
export function openByAccount(url: string, changes?: Partial<AiSdkOptions>): Provider {
  return openAiSdk('google-vertex', {
    baseUrl: url + VERTEX_PATH,
    vertex: {
      ...PLACE,
      clientEmail: 'gateway@own.test',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      tokenUrl: url + TOKEN_PATH,
    },
    ...changes,
  })
}

/** With credentials that sign the requests. */
export const BEDROCK: TestProvider = {
  name: 'amazon-bedrock',
  model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  reports: { reasoning: false, cacheWriteTokens: 120 },
  promptTokens: 50,
  errorEvent: serverError(424, 'modelStreamErrorException'),
  open: openAt('amazon-bedrock', '/bedrock', {
    apiKey: undefined,
    bedrock: {
      region: 'us-east-1',
      accessKeyId: 'AKIDOWN',
      secretAccessKey: 'own-secret',
      sessionToken: 'own-session',
    },
  }),
}

export const COHERE: TestProvider = {
  name: 'cohere',
  model: 'command-a-reasoning-08-2025',
  reports: { reasoning: false, cacheWriteTokens: 0 },
  promptTokens: 50,
  errorEvent: { kind: 'failure', reason: 'bad_answer', detail: 'the model failed: ERROR' },
  open: openAt('cohere', '/cohere/v2'),
}

/** Every provider that does not use the chat-completions format. */
export const AI_SDK_PROVIDERS = [ANTHROPIC, GOOGLE, VERTEX, VERTEX_CLAUDE, BEDROCK, COHERE]

function openAt(
  kind: AiSdkOptions['kind'],
  path: string,
  options: Partial<AiSdkOptions> = {},
): TestProvider['open'] {
  return (url, changes) =>
    openAiSdk(kind, { baseUrl: url + path, apiKey: `key-of-${kind}`, ...options, ...changes })
}

function serverError(status: number, word?: string): UpstreamFailure {
  const detail = word === undefined ? String(status) : `${status}: ${word}`
  return { kind: 'failure', reason: 'server_error', status, detail }
}

export function openAiSdk(kind: AiSdkOptions['kind'], options: Partial<AiSdkOptions>): Provider {
  return createAiSdkProvider({ kind, baseUrl: undefined, apiKey: undefined, ...LIMITS, ...options })
}

export interface Outcome {
  readonly turn: Turn
  readonly usage: ReportedTokens | undefined
  /** The bodies of a stream's chunks. */
  readonly bodies: readonly JsonObject[]
  /** Set when the call failed or its stream broke off. */
  readonly failure?: UpstreamFailure
  /** True when a stream broke off after the call had succeeded. */
  readonly isBrokenStream?: boolean
}

/** Sends one call and reads its answer to the end, or to its failure. */
export async function complete(
  provider: Provider,
  call: Partial<ChatCall> & { body: JsonObject },
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const isStream = call.isStream ?? false
  const body = isStream ? { ...call.body, stream: true } : call.body
  const answer = await provider.completeChat?.(
    { ...contentOf(body), callId: 'call-1', ...call, body, isStream },
    signal,
  )
  assert.ok(answer)
  const nothing = { message: {}, finishReason: undefined }
  if (answer.kind === 'failure') {
    return { turn: nothing, usage: undefined, bodies: [], failure: answer }
  }
  if (answer.kind === 'answer') {
    return { turn: turnOf(answer.body), usage: answer.usage, bodies: [] }
  }
  const bodies: JsonObject[] = []
  let usage: ReportedTokens | undefined
  try {
    await answer.each((chunks) => {
      for (const chunk of chunks) {
        bodies.push(chunk.body)
        usage = chunk.usage ?? usage
      }
      return undefined
    })
  } catch (error) {
    assert.ok(error instanceof StreamBroken)
    const { failure } = error
    return { turn: assembleChunks(bodies), usage, bodies, failure, isBrokenStream: true }
  }
  return { turn: assembleChunks(bodies), usage, bodies }
}

/**
 * The request facts that the gateway passes to an adapter, with the limit that the request names, or the
 * default.
 */
export function contentOf(body: JsonObject): Omit<ChatCall, 'callId'> {
  const limit = body.max_completion_tokens ?? body.max_tokens
  return {
    model: String(body.model),
    body,
    memo: {},
    isStream: body.stream === true,
    outputTokensMax: typeof limit === 'number' ? limit : OUTPUT_TOKENS,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
  }
}

/** The output limit of a call whose request names none. */
export const OUTPUT_TOKENS = 4_096

/** A request with one question and the given fields. */
export function ask(target: { readonly model: string }, fields: JsonObject = {}): JsonObject {
  return {
    model: target.model,
    messages: [{ role: 'user', content: 'How hot is it in Recife?' }],
    ...fields,
  }
}
