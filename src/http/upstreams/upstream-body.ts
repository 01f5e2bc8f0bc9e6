/** The schemas of upstreams, for operators, and what their test saw in words. */
import Type from 'typebox'
import { AnswerTooLong } from '../../gateway/providers/read-failure.ts'
import { NoModelList } from '../../gateway/providers/read-model-list.ts'
import type { UpstreamFailure } from '../../gateway/providers/contract.ts'
import {
  ADDED_KINDS,
  needsAddress,
  needsKey,
  UPSTREAM_STATES,
  type AddedUpstream,
} from '../../money/catalog/added-upstreams.ts'
import type { ModelEntry } from '../../money/catalog/added-models.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
import { GuardedFetchError } from '../../platform/lib/guarded-fetch.ts'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, count, dateTime, nullable } from '../rest/values.ts'

/** What the program knows of its upstreams, whoever configured them. */
export interface UpstreamBook {
  /** Those of the file, the environment and the sandbox: they win over added ones of their id. */
  configured(): readonly ConfiguredView[]
  /** Calls find it now, on this node. */
  isOpen(id: string): boolean
  /** Reads its own list of models, in the background. */
  readList(id: string): void
  /** Whether the file has an entry for this model, which wins over one of the browser. */
  isInFile(modelId: string): boolean
  /** The model that an entry is, or what keeps it from the catalog. */
  readEntry(entry: ModelEntry): ConfiguredModel | { readonly faults: readonly string[] }
  /** The model without the changes of its prices, wherever it comes from. */
  findKnown(id: string): Promise<ConfiguredModel | undefined>
  /** Lists its models, and asks one for an answer of at most a cent. Undefined if calls do not find it. */
  test(id: string): Promise<UpstreamTest | undefined>
}

interface ConfiguredView {
  readonly id: string
  readonly kind: string
  readonly source: 'file' | 'environment' | 'built_in'
  readonly host: string | null
}

export type UpstreamTest =
  | { readonly kind: 'too_many'; readonly seconds: number }
  | {
      readonly kind: 'tested'
      readonly list: { readonly count: number } | { readonly error: unknown }
      /** Undefined if none of its models has a known price that is low enough. */
      readonly asked:
        | {
            readonly model: string
            readonly failure: UpstreamFailure | undefined
            readonly latencyMs: number
          }
        | undefined
    }

export const upstreamBody = answer({
  id: Type.String(),
  kind: Type.String(),
  source: Type.Enum(['file', 'environment', 'browser', 'built_in'], {
    description: 'De onde vem: só os do navegador mudam aqui.',
  }),
  host: nullable(Type.String({ description: 'O servidor; null: o do próprio provedor.' })),
  key_end: nullable(Type.String({ description: 'O fim da chave dada aqui.' })),
  state: Type.Enum([...UPSTREAM_STATES]),
  problem: nullable(
    Type.Enum(['replaced', 'not_open'], {
      description:
        'replaced: o arquivo ou o ambiente tem um provedor com este id, que vale; not_open: não pode ser chamado, porque a chave não pode ser lida.',
    }),
  ),
  models: { ...count, description: 'Do catálogo, com uma rota por ele.' },
  created_at: nullable(dateTime),
})

export const upstreamKind = answer({
  kind: Type.Enum([...ADDED_KINDS]),
  needs_address: Type.Boolean(),
  needs_key: Type.Boolean(),
})

export const upstreamTest = answer({
  models_listed: nullable(count),
  list_fault: nullable(Type.String()),
  asked_model: nullable(Type.String()),
  answer_fault: nullable(Type.String()),
  latency_ms: nullable(count),
})

export function listKinds(): AnswerOf<typeof upstreamKind>[] {
  return ADDED_KINDS.map((kind) => ({
    kind,
    needs_address: needsAddress(kind),
    needs_key: needsKey(kind),
  }))
}

interface Deps {
  readonly upstreamBook: UpstreamBook
  readonly catalog: Catalog
}

export function configuredBody(
  { catalog }: Deps,
  { id, kind, source, host }: ConfiguredView,
): AnswerOf<typeof upstreamBody> {
  return {
    id,
    kind,
    source,
    host,
    key_end: null,
    state: 'active',
    problem: null,
    models: modelsOf(catalog, id),
    created_at: null,
  }
}

export function addedBody(
  { upstreamBook, catalog }: Deps,
  added: AddedUpstream,
): AnswerOf<typeof upstreamBody> {
  const { id, kind, baseUrl, keyEnd, state, createdAt } = added
  const isReplaced = upstreamBook.configured().some((own) => own.id === id)
  return {
    id,
    kind,
    source: 'browser',
    host: baseUrl === null ? null : new URL(baseUrl).host,
    key_end: keyEnd,
    state,
    problem: isReplaced ? 'replaced' : upstreamBook.isOpen(id) ? null : 'not_open',
    models: isReplaced ? 0 : modelsOf(catalog, id),
    created_at: createdAt.toISOString(),
  }
}

function modelsOf(catalog: Catalog, id: string): number {
  const isOfIt = ({ upstreamId }: { upstreamId: string }): boolean => upstreamId === id
  return catalog.listConfigured().filter(({ routes }) => routes.some(isOfIt)).length
}

export function testBody({
  list,
  asked,
}: Extract<UpstreamTest, { kind: 'tested' }>): AnswerOf<typeof upstreamTest> {
  return {
    models_listed: 'count' in list ? list.count : null,
    list_fault: 'count' in list ? null : listFault(list.error),
    asked_model: asked?.model ?? null,
    answer_fault: asked
      ? asked.failure
        ? answerFault(asked.failure)
        : null
      : 'Nenhum modelo de chat dele tem um preço conhecido: nada foi pedido. Cadastre o modelo e os preços em Modelos.',
    latency_ms: asked?.latencyMs ?? null,
  }
}

/** Never the text of an error: a hostile server may repeat the key in its own. */
function listFault(error: unknown): string {
  if (error instanceof NoModelList) return statusFault(error.status)
  if (error instanceof AnswerTooLong) return 'A lista de modelos é grande demais.'
  if (error instanceof GuardedFetchError && error.reason === 'refused_address')
    return 'O endereço leva a uma rede privada.'
  const isLate = error instanceof Error && /timeout/i.test(`${error.name} ${codeOf(error)}`)
  return isLate ? 'Não respondeu a tempo.' : 'Não foi possível conectar.'
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

function statusFault(status: number): string {
  if (status === 401 || status === 403) return 'A chave foi recusada.'
  if (status === 200) return 'A resposta não é uma lista de modelos.'
  return `A lista de modelos foi respondida com o status ${status}.`
}

function answerFault({ reason, status }: UpstreamFailure): string {
  switch (reason) {
    case 'credentials_refused':
      return 'A chave foi recusada.'
    case 'rate_limited':
      return 'A chave é conhecida, mas está sem cota agora.'
    case 'refused_request':
      return 'A chave é conhecida, mas o pedido ou o modelo foi recusado.'
    case 'connect_failed':
      return 'Não foi possível conectar.'
    case 'first_byte_timeout':
    case 'idle_timeout':
    case 'aborted':
      return 'Não respondeu a tempo.'
    default:
      return `A resposta falhou${status === undefined ? '' : ` com o status ${status}`}.`
  }
}
