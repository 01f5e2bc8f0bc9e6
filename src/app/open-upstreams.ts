import type { WithAdded } from '../money/catalog/reload-catalog.ts'
import type { GatewayParts } from '../gateway/calls/gateway-parts.ts'
import type { BreakerOptions } from '../gateway/calls/routing/circuit-breaker.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Provider } from '../gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../gateway/providers/openai-compatible/create-openai-compatible.ts'
import { startSandboxUpstream } from '../sandbox/upstream/start-sandbox-upstream.ts'
import type { Config } from './config/config.ts'
import {
  isConfigured,
  withAdded,
  type Added,
  type UpstreamSettings,
} from './config/with-added-upstreams.ts'
import { createClosing, type Closable } from './create-closing.ts'
import {
  SANDBOX_UPSTREAMS,
  type ConfiguredUpstream,
  type SandboxUpstreamId,
} from './config/resolve-upstreams.ts'

export interface OpenUpstreams extends Closable {
  /** Those of the configuration, and those that operators added. */
  readonly providers: ReadonlyMap<string, Provider>
  /** How often a call is retried on a route of this upstream. */
  readonly retriesOf: (upstreamId: string) => number
  readonly termsOf: GatewayParts['termsOf']
  readonly breakerOf: (upstreamId: string) => BreakerOptions | undefined
  /** The settings with what operators added, as calls find it now. */
  readonly settingsNow: () => UpstreamSettings
  /** Opens upstreams that operators added. Calls find them after `apply`; those under way keep what they began with. */
  readonly prepareAdded: (added: Added) => Promise<WithAdded>
}

/** Opens the configured upstreams; in sandbox mode also the sandbox upstream, called over HTTP like the others. */
export async function openUpstreams(
  config: UpstreamSettings & Pick<Config, 'callTimeoutMs' | 'webhooksAllowPrivate'>,
  log: Log,
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
  const added = closing.add('added upstreams', createAddedProviders(config.callTimeoutMs, log))
  let now: UpstreamSettings = config
  let last: { readonly of: string; readonly settings: UpstreamSettings } | undefined
  return {
    providers,
    breakerOf: (id) => byId.get(id)?.breaker,
    termsOf: (id) => byId.get(id)?.terms,
    retriesOf: (id) => byId.get(id)?.retries ?? 0,
    settingsNow: () => now,
    async prepareAdded(given) {
      // Their state changes what takes calls, and neither their models nor their connections.
      const rows = given.upstreams.map(({ state: _state, ...row }) => row)
      const of = JSON.stringify([rows, given.models], (_name, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      const allowPrivate = config.webhooksAllowPrivate
      if (last?.of !== of)
        last = { of, settings: withAdded<UpstreamSettings>(config, given, { allowPrivate }) }
      const { settings } = last
      const paused = given.upstreams.filter(({ state }) => state !== 'active').map(({ id }) => id)
      const opened = await added.open(settings.upstreams.slice(config.upstreams.length))
      return {
        ...settings,
        pausedUpstreams: new Set(paused.filter((id) => !isConfigured(config, id))),
        apply() {
          now = settings
          added.keep(opened)
          for (const id of providers.keys())
            if (!isConfigured(config, id) && !opened.has(id)) {
              providers.delete(id)
              byId.delete(id)
            }
          for (const [id, { upstream, provider }] of opened) {
            providers.set(id, provider)
            byId.set(id, upstream)
          }
        },
      }
    },
    close: () => closing.close(),
  }
}

interface AddedProvider {
  readonly upstream: ConfiguredUpstream
  readonly opening: Promise<Provider>
  readonly provider: Provider
}

/** One that was deleted, or has another key, is closed when the calls that it may have begun are over. */
function createAddedProviders(callTimeoutMs: number, log: Log) {
  const open = new Map<string, Promise<Provider>>()
  const alive = new Set<Promise<Provider>>()
  const nameOf = (upstream: ConfiguredUpstream): string => JSON.stringify(upstream)

  function openOnce(upstream: ConfiguredUpstream): Promise<Provider> {
    const name = nameOf(upstream)
    const known = open.get(name)
    if (known) return known
    const opening = openProvider(upstream.adapter)
    open.set(name, opening)
    alive.add(opening)
    return opening
  }

  async function end(opening: Promise<Provider>): Promise<void> {
    alive.delete(opening)
    await opening.then(
      (provider) => provider.close(),
      () => {},
    )
  }

  return {
    async open(upstreams: readonly ConfiguredUpstream[]): Promise<Map<string, AddedProvider>> {
      const opened = new Map<string, AddedProvider>()
      for (const upstream of upstreams) {
        try {
          const opening = openOnce(upstream)
          opened.set(upstream.id, { upstream, opening, provider: await opening })
        } catch (error) {
          log.error('upstream_not_opened', { upstream: upstream.id, error })
        }
      }
      return opened
    },
    /** These are in use now; all others are not, once their calls have ended, unless a later loading uses them again. */
    keep(opened: ReadonlyMap<string, AddedProvider>): void {
      const used = new Map(
        [...opened.values()].map(({ upstream, opening }) => [nameOf(upstream), opening]),
      )
      for (const [name, opening] of open) {
        if (used.has(name)) continue
        open.delete(name)
        const endUnlessUsed = (): void => void (open.get(name) === opening || end(opening))
        setTimeout(endUnlessUsed, callTimeoutMs).unref()
      }
      for (const [name, opening] of used) open.set(name, opening)
    },
    close: async () => void (await Promise.all([...alive].map(end))),
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
