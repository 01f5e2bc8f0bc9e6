/**
 * The upstreams of the operator's file, and the preset upstreams whose variables are in the environment. An upstream of
 * the file replaces a preset with the same id.
 */
import type { CatalogConfig, UpstreamConfig } from '../../money/catalog/catalog-config-schema.ts'
import {
  pricedBy,
  upstreamPresets,
  type PricedBy,
  type UpstreamPreset,
} from '../../money/catalog/upstream-presets.ts'
import type { Environment } from './environment-reader.ts'
import {
  DEFAULT_BREAKER,
  type BreakerOptions,
} from '../../gateway/calls/routing/circuit-breaker.ts'
import type { UpstreamTerms } from '../../gateway/calls/routing/choose-routes.ts'
import type { AiSdkOptions } from '../../gateway/providers/ai-sdk/ai-sdk-options.ts'
import type { VideoFormat } from '../../gateway/providers/openai-compatible/videos.ts'
import {
  OPEN_CHAT_FIELDS,
  OPENAI_CHAT_FIELDS,
} from '../../gateway/providers/openai-compatible/chat-deltas.ts'
import type { OpenAiCompatibleOptions } from '../../gateway/providers/openai-compatible/create-openai-compatible.ts'

export interface ConfiguredUpstream {
  readonly id: string
  /** How often a call is retried on a route of this upstream. */
  readonly retries: number
  readonly breaker: BreakerOptions
  readonly pricedBy?: PricedBy | undefined
  readonly terms?: UpstreamTerms
  readonly adapter:
    | { readonly speaks: 'chat-completions'; readonly options: OpenAiCompatibleOptions }
    | { readonly speaks: 'its own format'; readonly options: AiSdkOptions }
}

/** The ids of the sandbox upstream, which exists in sandbox mode only: the second one is asked in the Responses format. */
export const SANDBOX_UPSTREAMS = ['sandbox', 'sandbox-responses'] as const
export type SandboxUpstreamId = (typeof SANDBOX_UPSTREAMS)[number]

export function isSandboxUpstream(id: string): boolean {
  return SANDBOX_UPSTREAMS.some((own) => own === id)
}
const DEFAULT_RETRIES = 1
const PLAIN: UpstreamPreset = {
  adapter: 'openai-compatible',
  whenSet: [],
  cancelStopsBilling: false,
}

/** Returns the preset upstreams whose variables are set, without those that the file replaces. */
export function findPresets(
  file: CatalogConfig | undefined,
  environment: Environment,
): UpstreamConfig[] {
  const own = file?.upstreams ?? []
  return Object.entries(upstreamPresets)
    .filter(([id, preset]) => isThere(preset, environment) && !own.some((each) => each.id === id))
    .map(([id]): UpstreamConfig => ({ id, kind: id }))
}

/** Resolves the configured upstreams. Faults are added to `faults`, each with the id of its upstream. */
export function resolveUpstreams(
  entries: readonly UpstreamConfig[],
  environment: Environment,
  faults: string[],
): ConfiguredUpstream[] {
  const upstreams: ConfiguredUpstream[] = []
  for (const entry of entries) {
    const preset = upstreamPresets[entry.kind] ?? PLAIN
    const found = findFaults(entry, preset, environment)
    faults.push(...found.map((fault) => `upstream "${entry.id}" ${fault}`))
    if (found.length > 0) continue
    upstreams.push({
      id: entry.id,
      retries: entry.retries ?? DEFAULT_RETRIES,
      breaker: {
        failures: entry.breaker?.failures ?? DEFAULT_BREAKER.failures,
        openMs: entry.breaker?.open_ms ?? DEFAULT_BREAKER.openMs,
      },
      pricedBy: pricedBy[entry.kind],
      terms: { providerName: entry.provider_name, collectsData: entry.collects_data },
      adapter: adapterOf(entry, preset, environment),
    })
  }
  return upstreams
}

/** Returns the variables that configure preset upstreams: setting one of them is enough. */
export function presetVariables(): string[] {
  return Object.values(upstreamPresets).map(({ whenSet }) => whenSet[0]?.at(-1) as string)
}

function isThere({ whenSet }: UpstreamPreset, environment: Environment): boolean {
  return whenSet.some((names) => names.every((name) => Boolean(environment[name])))
}

function findFaults(
  entry: UpstreamConfig,
  preset: UpstreamPreset,
  environment: Environment,
): string[] {
  const faults: string[] = []
  for (const [field, variable] of Object.entries(entry)) {
    if (!field.endsWith('_env') || environment[variable as string]) continue
    const what = field.replace(/^api_|_env$/g, '').replaceAll('_', ' ')
    faults.push(`takes its ${what} from ${variable as string}, which is not set`)
  }
  const baseUrl = baseUrlOf(entry, preset, environment)
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    faults.push(`has a base_url that is no http(s) address: "${baseUrl}"`)
  if (preset.adapter === 'openai-compatible' && baseUrl === undefined)
    faults.push(`needs a base_url${preset.baseUrlEnv ? ` or ${preset.baseUrlEnv}` : ''}`)
  const key = createFrom(environment)(entry.api_key_env ?? preset.apiKeyEnv)
  const hasKey = key !== undefined
  // It is sent in a header.
  if (hasKey && !/^[\x21-\x7e]+$/.test(key))
    faults.push('has a key with spaces, line breaks or accents')
  if (preset.adapter === 'google-vertex') {
    const vertex = vertexOf(entry, environment)
    if (!vertex) faults.push('needs a project and a location')
    else if (!hasKey && !(vertex.clientEmail && vertex.privateKey))
      faults.push('needs a key, or the e-mail and the private key of a service account')
  }
  if (preset.adapter === 'amazon-bedrock') {
    const bedrock = bedrockOf(entry, environment)
    if (!bedrock) faults.push('needs a region')
    else if (!hasKey && !(bedrock.accessKeyId && bedrock.secretAccessKey))
      faults.push('needs a key, or an access key and its secret')
  }
  if (hasOwnFormat(preset) && !hasKey && preset.whenSet.length === 1)
    faults.push(`needs a key: api_key_env or ${preset.apiKeyEnv ?? ''}`)
  return faults
}

function hasOwnFormat({ adapter }: UpstreamPreset): boolean {
  return adapter !== 'openai-compatible'
}

function adapterOf(
  entry: UpstreamConfig,
  preset: UpstreamPreset,
  environment: Environment,
): ConfiguredUpstream['adapter'] {
  const from = createFrom(environment)
  const common = {
    headers: entry.headers,
    cancelStopsBilling: entry.cancel_stops_billing ?? preset.cancelStopsBilling,
    connectTimeoutMs: entry.connect_timeout_ms ?? 5_000,
    firstByteTimeoutMs: entry.first_byte_timeout_ms ?? 300_000,
    idleTimeoutMs: entry.idle_timeout_ms ?? 60_000,
    connectionsMax: entry.connections_max ?? 4_096,
  }
  const baseUrl = baseUrlOf(entry, preset, environment)
  const apiKey = from(entry.api_key_env ?? preset.apiKeyEnv)
  if (preset.adapter !== 'openai-compatible') {
    const vertex = vertexOf(entry, environment)
    const bedrock = bedrockOf(entry, environment)
    const options = { ...common, kind: preset.adapter, baseUrl, apiKey, vertex, bedrock }
    return { speaks: 'its own format', options }
  }
  return {
    speaks: 'chat-completions',
    options: {
      ...common,
      apiKey,
      organization: from(entry.organization_env),
      project: from(entry.project_env),
      query: entry.query,
      authentication: preset.authentication ?? 'bearer',
      ...fieldsOf(entry, preset, baseUrl as string),
    },
  }
}

/**
 * The parts of the format in which upstreams differ, derived from their address unless the operator configures them.
 */
function fieldsOf(entry: UpstreamConfig, preset: UpstreamPreset, baseUrl: string) {
  const isOpenAisOwn = isOpenAi(baseUrl) || isAzure(baseUrl)
  return {
    baseUrl,
    maxTokensField:
      entry.max_tokens_field ??
      preset.maxTokensField ??
      (isOpenAisOwn ? 'max_completion_tokens' : 'max_tokens'),
    chatFields: isOpenAisOwn ? OPENAI_CHAT_FIELDS : OPEN_CHAT_FIELDS,
    // OpenRouter reads files for models that cannot, using another maker's model, and bills each page.
    takesFiles: !/(^|\.)openrouter\.ai$/.test(new URL(baseUrl).hostname),
    opensOnlyImages: opensOnlyImages(entry, preset, baseUrl),
    hasShortCallIds: preset.hasShortCallIds,
    opensAddresses: entry.opens_addresses ?? isKnownProvider(baseUrl),
    speaksResponses: entry.speaks_responses ?? isOpenAisOwn,
    videoFormat: entry.video_format ?? videoFormatOf(baseUrl),
    // Without this field the project's settings choose the tier, and with it the price.
    serviceTier: isOpenAi(baseUrl) ? 'default' : undefined,
  } satisfies Partial<OpenAiCompatibleOptions>
}

/** Decided by the address: the id is the operator's choice. */
function isOpenAi(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com'
}

function videoFormatOf(baseUrl: string): VideoFormat {
  const { hostname } = new URL(baseUrl)
  if (/(^|\.)openrouter\.ai$/.test(hostname)) return 'openrouter'
  return /(^|\.)x\.ai$/.test(hostname) ? 'xai' : 'openai'
}

function isAzure(baseUrl: string): boolean {
  return /\.(openai|services\.ai|cognitiveservices)\.azure\.com$/.test(new URL(baseUrl).hostname)
}

/** At the public address of a known provider, which opens addresses in its own network. */
function isKnownProvider(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  const isPreset = Object.values(upstreamPresets).some((known) => {
    const host = known.baseUrl === undefined ? undefined : new URL(known.baseUrl).hostname
    return host !== undefined && (hostname === host || hostname.endsWith(`.${host}`))
  })
  return isPreset || isAzure(baseUrl)
}

/** Follows the operator's setting, else the address: an unknown address may be a gateway to any model. */
function opensOnlyImages(
  { opens_only_images: said }: UpstreamConfig,
  preset: UpstreamPreset,
  baseUrl: string,
): boolean {
  if (said !== undefined) return said
  if (preset.baseUrl === undefined && preset.opensOnlyImages === true) return true
  const { hostname } = new URL(baseUrl)
  const isKnown = Object.values(upstreamPresets).some((known) => {
    if (!known.opensOnlyImages || known.baseUrl === undefined) return false
    const host = new URL(known.baseUrl).hostname
    return hostname === host || hostname.endsWith(`.${host}`)
  })
  return isKnown || isAzure(baseUrl)
}

function baseUrlOf(
  { base_url: given }: UpstreamConfig,
  { baseUrl, baseUrlEnv, baseUrlPath = '' }: UpstreamPreset,
  environment: Environment,
): string | undefined {
  if (given !== undefined) return given
  const address = createFrom(environment)(baseUrlEnv)
  if (address === undefined) return baseUrl
  const trimmed = address.replace(/\/+$/, '')
  return trimmed.endsWith(baseUrlPath) ? trimmed : trimmed + baseUrlPath
}

function vertexOf(entry: UpstreamConfig, environment: Environment): AiSdkOptions['vertex'] {
  const from = createFrom(environment)
  const project = entry.project ?? from('GOOGLE_VERTEX_PROJECT')
  const location = entry.location ?? from('GOOGLE_VERTEX_LOCATION')
  if (project === undefined || location === undefined) return undefined
  const clientEmail = from(entry.client_email_env ?? 'GOOGLE_CLIENT_EMAIL')
  // An environment file has the key on one line, with its line breaks written as \n.
  const privateKey = from(entry.private_key_env ?? 'GOOGLE_PRIVATE_KEY')?.replaceAll('\\n', '\n')
  return {
    project,
    location,
    ...(clientEmail === undefined ? {} : { clientEmail }),
    ...(privateKey === undefined ? {} : { privateKey }),
  }
}

function bedrockOf(entry: UpstreamConfig, environment: Environment): AiSdkOptions['bedrock'] {
  const from = createFrom(environment)
  const region = entry.region ?? from('AWS_REGION')
  if (region === undefined) return undefined
  const accessKeyId = from(entry.access_key_id_env ?? 'AWS_ACCESS_KEY_ID')
  const secretAccessKey = from(entry.secret_access_key_env ?? 'AWS_SECRET_ACCESS_KEY')
  const sessionToken = from(entry.session_token_env ?? 'AWS_SESSION_TOKEN')
  return {
    region,
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
  }
}

function createFrom(environment: Environment) {
  return (variable: string | undefined): string | undefined =>
    variable === undefined ? undefined : environment[variable] || undefined
}
