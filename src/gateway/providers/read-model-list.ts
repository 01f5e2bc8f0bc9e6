/**
 * Reads an upstream's own list of its models, over a connection of its own: once a day. Redirects are not followed,
 * because they would take the credentials along.
 */
import { isDay } from '../../platform/lib/days.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { COHERE_ADDRESS, GOOGLE_ADDRESS, type AiSdkOptions } from './ai-sdk/ai-sdk-options.ts'
import { ANTHROPIC_ADDRESS, ANTHROPIC_VERSION } from './ai-sdk/native-messages/message-fields.ts'
import { exchange } from './openai-compatible/exchange.ts'
import { openUpstream, type UpstreamOptions } from './openai-compatible/upstream.ts'

const LIST_MS_MAX = 30_000
const LIST_BYTES_MAX = 8 * 1024 * 1024
const MODELS_MAX = 2_000
const NAME = /^[\x21-\x7e]{1,150}$/
const TOKENS_MAX = 100_000_000

type Listing = { readonly upstream: UpstreamOptions; readonly endpoint: string }

interface ListedModel {
  readonly name: string
  readonly contextTokens?: number
  readonly outputTokensMax?: number
  readonly endsOn?: string
}

/** The upstream answered something else than its list. */
export class NoModelList extends Error {
  override readonly name = 'NoModelList'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Rejects if there is no list, or an empty one: that is no reason to take models away. */
export async function readModelList(adapter: ListingAdapter): Promise<ListedModel[]> {
  const listing = listingOf(adapter)
  const upstream = openUpstream(listing.upstream)
  try {
    const request = {
      path: upstream.path(listing.endpoint),
      method: 'GET',
      headers: upstream.headers,
      body: '',
    }
    const signal = AbortSignal.timeout(LIST_MS_MAX)
    const { status, body } = await exchange(upstream.origin, request, upstream.silence, signal)
    if (status !== 200)
      throw new NoModelList(status, `the list of models was answered with ${status}`)
    const list = readList(parseJson(await body.text(LIST_BYTES_MAX)))
    if (list.length === 0) throw new NoModelList(status, 'the list of models is empty')
    return list
  } finally {
    await upstream.close()
  }
}

/** The parser's own error would quote the answer, and a hostile one repeats the key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NoModelList(200, 'the list of models is no JSON')
  }
}

export type ListingAdapter =
  | { readonly speaks: 'chat-completions'; readonly options: UpstreamOptions }
  | { readonly speaks: 'its own format'; readonly options: AiSdkOptions }

function listingOf(adapter: ListingAdapter): Listing {
  if (adapter.speaks === 'chat-completions')
    return { upstream: adapter.options, endpoint: '/models' }
  const { options } = adapter
  const { kind, apiKey = '', headers } = options
  const own = (baseUrl: string, credentials: Record<string, string>): UpstreamOptions => ({
    ...options,
    baseUrl: options.baseUrl ?? baseUrl,
    apiKey: undefined,
    headers: { ...credentials, ...headers },
  })
  switch (kind) {
    case 'anthropic': {
      const credentials = { 'x-api-key': apiKey, 'anthropic-version': ANTHROPIC_VERSION }
      return { upstream: own(ANTHROPIC_ADDRESS, credentials), endpoint: '/models?limit=1000' }
    }
    case 'google':
      return {
        upstream: own(GOOGLE_ADDRESS, { 'x-goog-api-key': apiKey }),
        endpoint: '/models?pageSize=1000',
      }
    case 'cohere': {
      const upstream = own(COHERE_ADDRESS, { authorization: `Bearer ${apiKey}` })
      // The second version of the API has no list.
      const baseUrl = upstream.baseUrl.replace(/\/v2\/?$/, '/v1')
      return { upstream: { ...upstream, baseUrl }, endpoint: '/models?page_size=1000' }
    }
    default:
      throw new Error(`${kind} has no list of models`)
  }
}

/** The list of any upstream: each has its own names for the same facts. What is no name, no number or no day is left out. */
function readList(answer: unknown): ListedModel[] {
  const { data, models } = isObject(answer) ? answer : {}
  const entries = [answer, data, models].find(Array.isArray) ?? []
  return entries.slice(0, MODELS_MAX).flatMap((entry: unknown) => {
    if (!isObject(entry)) return []
    const name = entry.id ?? entry.name
    if (typeof name !== 'string' || !NAME.test(name)) return []
    const top = isObject(entry.top_provider) ? entry.top_provider : {}
    const contextTokens = firstCount(
      entry.context_length,
      entry.context_window,
      entry.max_context_length,
      entry.inputTokenLimit,
      entry.max_input_tokens,
    )
    const outputTokensMax = firstCount(
      top.max_completion_tokens,
      entry.max_completion_tokens,
      entry.outputTokenLimit,
      entry.max_tokens,
    )
    return [
      {
        name: name.replace(/^models\//, ''),
        ...(contextTokens && { contextTokens }),
        ...(outputTokensMax && { outputTokensMax }),
        ...(isDay(entry.shutdown_date) && { endsOn: entry.shutdown_date }),
      },
    ]
  })
}

function firstCount(...values: readonly unknown[]): number | undefined {
  return values.find(
    (value): value is number => Number.isInteger(value) && isWithin(value as number),
  )
}

function isWithin(count: number): boolean {
  return count > 0 && count <= TOKENS_MAX
}
