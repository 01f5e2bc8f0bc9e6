import { createId } from '../platform/lib/ids.ts'
import type { ConfiguredModel, Model } from '../money/catalog/model.ts'
import type { Provider, UpstreamFailure } from '../gateway/providers/contract.ts'

const OUTPUT_TOKENS = 16
const PROMPT_TOKENS_MAX = 100
const TRY_MS_MAX = 15_000
const TRY_BYTES_MAX = 1024 * 1024
/** One cent of a dollar. */
const TRY_PICO_USD_MAX = 10_000_000_000n

/** The upstream's name of its chat model whose output costs least; undefined if none is known to cost less than a cent. */
export function cheapestRoute(
  upstreamId: string,
  models: readonly (ConfiguredModel | Model)[],
): string | undefined {
  return models
    .filter(({ category }) => category === 'llm')
    .flatMap(({ routes, hiddenPromptTokensMax = 0 }) =>
      routes
        .filter((route) => route.upstreamId === upstreamId)
        .map(({ upstreamModel, price: { tiers } }) => {
          const { input = 0n, output = 0n, reasoning = 0n } = tiers[0] ?? {}
          const highest = output > reasoning ? output : reasoning
          const prompt = BigInt(PROMPT_TOKENS_MAX + hiddenPromptTokensMax) * input
          return { upstreamModel, output, most: prompt + BigInt(OUTPUT_TOKENS) * highest }
        }),
    )
    .filter(({ most }) => most <= TRY_PICO_USD_MAX)
    .toSorted((one, other) => (one.output < other.output ? -1 : 1))[0]?.upstreamModel
}

/** Asks for one short answer. */
export async function tryChat(
  provider: Provider,
  model: string,
): Promise<UpstreamFailure | undefined> {
  let bytesLeft = TRY_BYTES_MAX
  const call = {
    model,
    body: { model, messages: [{ role: 'user', content: 'ping' }], max_tokens: OUTPUT_TOKENS },
    memo: {},
    isStream: false,
    outputTokensMax: OUTPUT_TOKENS,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
    callId: createId(),
    takeBytes: (bytes: number) => (bytesLeft -= bytes) >= 0,
  }
  const answer = await provider.completeChat?.(call, AbortSignal.timeout(TRY_MS_MAX))
  return answer?.kind === 'failure' ? answer : undefined
}
