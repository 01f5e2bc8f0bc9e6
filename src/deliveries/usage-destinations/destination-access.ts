import { seal, unseal } from '../../platform/lib/seal.ts'
import type { ReceiverSettings } from '../receiver.ts'

export const DESTINATION_KINDS = ['langfuse', 'otlp'] as const
export type DestinationKind = (typeof DESTINATION_KINDS)[number]

/** How a destination knows its customer: the keys of a Langfuse project, or headers of the customer's choice. */
export type DestinationAccess =
  | { readonly kind: 'langfuse'; readonly publicKey: string; readonly secretKey: string }
  | { readonly kind: 'otlp'; readonly headers: Readonly<Record<string, string>> }

/** What of it is stored: all of it sealed, and what may be shown. */
export function toStored(sealingKey: Buffer, id: string, access: DestinationAccess) {
  const headers = headersOf(access)
  return {
    secret_sealed: seal(sealingKey, id, Buffer.from(JSON.stringify(headers))),
    public_key: access.kind === 'langfuse' ? access.publicKey : null,
    header_names: access.kind === 'langfuse' ? [] : Object.keys(headers),
  }
}

/** Opens the sealed headers of a destination. Throws a `SealError`. */
export function openHeaders(
  { sealingKey, previousSealingKey }: ReceiverSettings,
  id: string,
  sealed: Buffer,
): Readonly<Record<string, string>> {
  return JSON.parse(unseal(sealingKey, id, sealed, previousSealingKey).toString())
}

function headersOf(access: DestinationAccess): Record<string, string> {
  if (access.kind === 'otlp') return lowerCased(access.headers)
  const { publicKey, secretKey } = access
  return {
    authorization: `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`,
    // Without it Langfuse shows the spans minutes later.
    'x-langfuse-ingestion-version': '4',
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

const LANGFUSE_PATH = '/api/public/otel/v1/traces'
const OTLP_PATH = '/v1/traces'

/** Where spans are posted: customers give the address of their Langfuse, or what exporters call the endpoint. */
export function tracesUrl(kind: DestinationKind, url: string): string {
  const base = url.replace(/\/+$/, '')
  if (base.endsWith(OTLP_PATH)) return base
  if (kind === 'otlp') return base + OTLP_PATH
  return base.replace(/\/api\/public(\/otel)?$/, '') + LANGFUSE_PATH
}
