/** The schemas of destinations of usage. */
import Type, { type Static } from 'typebox'
import {
  DESTINATION_KINDS,
  type DestinationAccess,
  type DestinationKind,
} from '../../deliveries/usage-destinations/destination-access.ts'
import { DESTINATION_ERRORS } from '../../deliveries/usage-destinations/post-spans.ts'
import type {
  DestinationChange,
  UsageDestination,
} from '../../deliveries/usage-destinations/usage-destinations.ts'
import {
  readReceiverUrl,
  RECEIVER_URL_MAX,
  type ReceiverSettings,
} from '../../deliveries/receiver.ts'
import { answer, count, dateTime, nullable, uuid } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

const HEADERS_MAX = 10
const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
/** They belong to the connection, or to the format of what is sent. */
const RESERVED =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|user-agent|accept.*|proxy-.*)$/i

const url = Type.String({
  minLength: 1,
  maxLength: RECEIVER_URL_MAX,
  description:
    'https, de um endereço público. langfuse: o da instância, como https://cloud.langfuse.com; otlp: o endpoint do coletor, ao qual se acrescenta /v1/traces.',
})

const secret = (description: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x39\\x3b-\\x7e]+$', description })

const fields = {
  url,
  public_key: Type.Optional(secret('langfuse: a chave pública do projeto.')),
  secret_key: Type.Optional(secret('langfuse: a chave secreta do projeto; nunca mais é mostrada.')),
  headers: Type.Optional(
    Type.Record(
      Type.String({ pattern: HEADER_NAME }),
      Type.String({ minLength: 1, maxLength: 4_000, pattern: '^[\\x20-\\x7e]+$' }),
      {
        maxProperties: HEADERS_MAX,
        // Without it, a name that is no header's name would be taken unchecked, with any value.
        additionalProperties: false,
        description:
          'otlp: cabeçalhos de cada envio, como authorization; nunca mais são mostrados.',
      },
    ),
  ),
  includes_content: Type.Optional(
    Type.Boolean({
      description:
        'Envia também prompts e respostas, mas só de chamadas a /v1/responses que a conta armazena. Padrão: false.',
    }),
  ),
}

export const destinationInput = Type.Object(
  { kind: Type.Enum([...DESTINATION_KINDS]), ...fields },
  { additionalProperties: false },
)

export const destinationChange = Type.Object(
  {
    ...fields,
    url: Type.Optional(url),
    is_enabled: Type.Optional(Type.Boolean({ description: 'true liga de novo.' })),
  },
  { additionalProperties: false },
)

const destinationError = nullable(Type.Enum([...DESTINATION_ERRORS]))

export const destination = answer({
  id: uuid,
  kind: Type.Enum([...DESTINATION_KINDS]),
  url: Type.String(),
  public_key: nullable(Type.String()),
  header_names: Type.Array(Type.String()),
  includes_content: Type.Boolean(),
  is_enabled: Type.Boolean(),
  disabled_at: nullable(dateTime),
  disabled_reason: {
    ...nullable(Type.Enum(['customer', 'failing'])),
    description: 'customer: por você; failing: nada foi aceito por três dias.',
  },
  created_at: dateTime,
  sent: { ...count, description: 'Cobranças aceitas pelo destino.' },
  rejected: { ...count, description: 'Cobranças que o destino recusou de vez.' },
  given_up: {
    ...count,
    description: 'Cobranças não enviadas em sete dias, e por isso descartadas.',
  },
  last_success_at: nullable(dateTime),
  failures: { ...count, description: 'Falhas seguidas.' },
  failing_since: nullable(dateTime),
  last_failed_at: nullable(dateTime),
  last_error: destinationError,
  last_http_status: nullable(Type.Integer()),
  last_answer: nullable(Type.String({ description: 'O começo da última resposta com erro.' })),
  next_try_at: {
    ...nullable(dateTime),
    description: 'Depois de uma falha.',
  },
  test: nullable(
    answer({
      asked_at: dateTime,
      tested_at: nullable(dateTime),
      error: destinationError,
    }),
  ),
})

/** Throws a 400 for what the kind does not have, or lacks. */
export function readAccess(
  kind: DestinationKind,
  { public_key, secret_key, headers }: Static<typeof destinationChange>,
): DestinationAccess | undefined {
  if (kind === 'otlp') {
    if (public_key !== undefined || secret_key !== undefined)
      throw faulty('public_key e secret_key: só para langfuse')
    if (!headers) return undefined
    const reserved = Object.keys(headers).find((name) => RESERVED.test(name))
    if (reserved !== undefined) throw faulty(`headers: ${reserved} não pode ser definido`)
    const names = Object.keys(headers).map((name) => name.toLowerCase())
    if (new Set(names).size < names.length) throw faulty('headers: há um nome repetido')
    return { kind, headers }
  }
  if (headers) throw faulty('headers: só para otlp')
  if (public_key === undefined && secret_key === undefined) return undefined
  if (public_key === undefined || secret_key === undefined)
    throw faulty('public_key e secret_key: as duas, ou nenhuma')
  return { kind, publicKey: public_key, secretKey: secret_key }
}

/** Returns the form in which the address is stored. Throws a 400 for an address that a destination must not have. */
export function readDestinationUrl(settings: ReceiverSettings, text: string): string {
  const read = readReceiverUrl(text, settings)
  if ('fault' in read) throw faulty(`url: ${read.fault}`)
  if (read.url.includes('?')) throw faulty('url: não pode ter parâmetros (?)')
  return read.url
}

/** Secrets are for the host that they were given for: another one gets none that its customer did not type again. */
export function readDestinationChange(
  settings: ReceiverSettings,
  found: UsageDestination,
  body: Static<typeof destinationChange>,
): DestinationChange {
  const { url, includes_content: includesContent, is_enabled: isEnabled } = body
  const access = readAccess(found.kind, body)
  const read = url === undefined ? undefined : readDestinationUrl(settings, url)
  const hasSecrets = found.kind === 'langfuse' || found.headerNames.length > 0
  if (read !== undefined && !access && hasSecrets && originOf(read) !== originOf(found.url))
    throw faulty(
      found.kind === 'langfuse'
        ? 'url: outro servidor pede public_key e secret_key de novo'
        : 'url: outro servidor pede headers de novo',
    )
  return {
    ...(read === undefined ? {} : { url: read }),
    ...(access ? { access } : {}),
    ...(includesContent === undefined ? {} : { includesContent }),
    ...(isEnabled === undefined ? {} : { isEnabled }),
  }
}

function originOf(url: string): string {
  return new URL(url).origin
}

export function faulty(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}

export function destinationBody(of: UsageDestination) {
  return {
    id: of.id,
    kind: of.kind,
    url: of.url,
    public_key: of.publicKey,
    header_names: [...of.headerNames],
    includes_content: of.includesContent,
    is_enabled: of.disabledAt === null,
    disabled_at: of.disabledAt?.toISOString() ?? null,
    disabled_reason: of.disabledReason,
    created_at: of.createdAt.toISOString(),
    sent: Number(of.sent),
    rejected: Number(of.rejected),
    given_up: Number(of.givenUp),
    last_success_at: of.lastSuccessAt?.toISOString() ?? null,
    failures: of.failures,
    failing_since: of.failingSince?.toISOString() ?? null,
    last_failed_at: of.lastFailedAt?.toISOString() ?? null,
    last_error: of.lastError,
    last_http_status: of.lastHttpStatus,
    last_answer: of.lastAnswer,
    next_try_at: of.disabledAt === null && of.failures > 0 ? of.dueAt.toISOString() : null,
    test: of.testAskedAt && {
      asked_at: of.testAskedAt.toISOString(),
      tested_at: of.testedAt?.toISOString() ?? null,
      error: of.testError,
    },
  }
}
