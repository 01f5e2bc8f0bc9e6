/** Providers that talk to the fixture server, and what their answers come to. */
import assert from 'node:assert/strict'
import {
  StreamBroken,
  type ChatCall,
  type JsonObject,
  type Provider,
  type ReportedTokens,
  type UpstreamFailure,
} from '../../src/providers/contract.ts'
import type { AiSdkOptions } from '../../src/providers/ai-sdk/ai-sdk-options.ts'
import { createAiSdkProvider } from '../../src/providers/ai-sdk/create-ai-sdk-provider.ts'
import { createOpenAiCompatible } from '../../src/providers/openai-compatible/create-openai-compatible.ts'
import { assembleChunks, turnOf, type Turn } from './weather-conversation.ts'

export interface TestWire {
  readonly name: 'openai' | 'anthropic' | 'google'
  readonly model: string
  open(url: string, changes?: Partial<AiSdkOptions>): Provider
}

const LIMITS = {
  cancelStopsBilling: true,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 2_000,
  idleTimeoutMs: 2_000,
  connectionsMax: 4,
}

export const OPENAI: TestWire = {
  name: 'openai',
  model: 'gpt-5-mini',
  open: (url) =>
    createOpenAiCompatible({
      baseUrl: `${url}/openai/v1`,
      apiKey: 'key-of-openai',
      maxTokensField: 'max_completion_tokens',
      ...LIMITS,
    }),
}

export const ANTHROPIC = wireOf('anthropic', 'claude-sonnet-4-5', '/anthropic/v1')
export const GOOGLE = wireOf('google', 'gemini-3-pro-preview', '/google/v1beta')

function wireOf(name: 'anthropic' | 'google', model: string, path: string): TestWire {
  return {
    name,
    model,
    open: (url, changes) =>
      openAiSdk(name, { baseUrl: `${url}${path}`, apiKey: `key-of-${name}`, ...changes }),
  }
}

export function openAiSdk(kind: AiSdkOptions['kind'], options: Partial<AiSdkOptions>): Provider {
  return createAiSdkProvider({ kind, baseUrl: undefined, apiKey: undefined, ...LIMITS, ...options })
}

export interface Outcome {
  readonly turn: Turn
  readonly usage: ReportedTokens | undefined
  /** Of a stream: the bodies of its chunks. */
  readonly bodies: readonly JsonObject[]
  /** Set where there was no answer, or a stream broke off. */
  readonly failure?: UpstreamFailure
  /** Where a stream broke off, and not the call. */
  readonly isBrokenStream?: boolean
}

/** Sends one call and reads its answer to the end, whatever the end is. */
export async function complete(
  provider: Provider,
  call: Partial<ChatCall> & { body: JsonObject },
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const isStream = call.isStream ?? false
  const body = isStream ? { ...call.body, stream: true } : call.body
  const answer = await provider.completeChat?.(
    { callId: 'call-1', ...call, body, isStream },
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
    for await (const chunks of answer.chunks) {
      for (const chunk of chunks) {
        bodies.push(chunk.body)
        usage = chunk.usage ?? usage
      }
    }
  } catch (error) {
    assert.ok(error instanceof StreamBroken)
    const { failure } = error
    return { turn: assembleChunks(bodies), usage, bodies, failure, isBrokenStream: true }
  }
  return { turn: assembleChunks(bodies), usage, bodies }
}

/** A request with one question and the given fields. */
export function ask(wire: { readonly model: string }, fields: JsonObject = {}): JsonObject {
  return {
    model: wire.model,
    messages: [{ role: 'user', content: 'How hot is it in Recife?' }],
    ...fields,
  }
}
