import type { Model } from '../money/catalog/model.ts'
import type { GatewayParts } from '../gateway/calls/gateway-parts.ts'
import { createRouter, type Router } from '../gateway/calls/routing/create-router.ts'
import type { Log } from '../platform/lib/log.ts'
import { NOTHING_ELSEWHERE, type SharedRunning } from '../platform/admission/share.ts'
import type { Provider } from '../gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../gateway/providers/openai-compatible/create-openai-compatible.ts'
import { startSandboxUpstream } from '../sandbox/upstream/start-sandbox-upstream.ts'
import type { Config } from './config/config.ts'
import { createClosing, type Closable } from './create-closing.ts'
import {
  SANDBOX_UPSTREAMS,
  type ConfiguredUpstream,
  type SandboxUpstreamId,
} from './config/resolve-upstreams.ts'

export interface OpenUpstreams extends Closable {
  readonly providers: ReadonlyMap<string, Provider>
  readonly router: Router
  /** How often a call is retried on a route of this upstream. */
  readonly retriesOf: (upstreamId: string) => number
  readonly termsOf: GatewayParts['termsOf']
}

/** Opens the configured upstreams; in sandbox mode also the sandbox upstream, called over HTTP like the others. */
export async function openUpstreams(
  config: Pick<Config, 'mode' | 'upstreams'>,
  models: readonly Model[],
  log: Log,
  running: SharedRunning = NOTHING_ELSEWHERE,
): Promise<OpenUpstreams> {
  const closing = createClosing(log)
  const upstreams = [...config.upstreams]
  if (config.mode === 'sandbox') {
    const sandbox = closing.add('sandbox upstream', await startSandboxUpstream())
    upstreams.push(...SANDBOX_UPSTREAMS.map((id) => sandboxUpstream(id, sandbox.baseUrl)))
  }
  const providers = new Map<string, Provider>()
  for (const { id, adapter } of upstreams)
    providers.set(id, closing.add(id, await openProvider(adapter)))
  const byId = new Map(upstreams.map((upstream) => [upstream.id, upstream]))
  return {
    providers,
    router: createRouter(models, (id) => byId.get(id)?.breaker, undefined, running),
    termsOf: (id) => byId.get(id)?.terms,
    retriesOf: (id) => byId.get(id)?.retries ?? 0,
    close: () => closing.close(),
  }
}

export async function openProvider(adapter: ConfiguredUpstream['adapter']): Promise<Provider> {
  if (adapter.speaks === 'chat-completions') return createOpenAiCompatible(adapter.options)
  // Loaded only if needed: the packages take 70 MB and a third of a second.
  const { createAiSdkProvider } =
    await import('../gateway/providers/ai-sdk/create-ai-sdk-provider.ts')
  return createAiSdkProvider(adapter.options)
}

/** The sandbox models fail on purpose, as a demonstration: no call is retried, and no breaker hides a failure. */
function sandboxUpstream(id: SandboxUpstreamId, baseUrl: string): ConfiguredUpstream {
  return {
    id,
    retries: 0,
    breaker: { failures: 0, openMs: 1 },
    adapter: {
      speaks: 'chat-completions',
      options: {
        baseUrl,
        apiKey: undefined,
        cancelStopsBilling: true,
        opensOnlyImages: true,
        speaksResponses: id === 'sandbox-responses',
        maxTokensField: 'max_tokens',
        connectTimeoutMs: 1_000,
        // Short, so that users see how calls to the hanging sandbox models end.
        firstByteTimeoutMs: 30_000,
        idleTimeoutMs: 10_000,
        connectionsMax: 4_096,
      },
    },
  }
}
