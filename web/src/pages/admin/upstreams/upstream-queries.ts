import { queryOptions } from '@tanstack/react-query'
import { makerOf } from '../../../../../src/site/pages/makers.ts'
import { api, type Answer } from '../../../api/client.ts'
import { counted } from '../../../format/number.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { MODELS_CHANGE } from '../models/admin-model-queries.ts'
import { SERVICE } from '../use-act.ts'

type Upstreams = Answer<'get', '/admin/upstreams'>
export type Upstream = Upstreams['upstreams'][number]
export type UpstreamKind = Upstreams['kinds'][number]
export type UpstreamTest = Answer<'post', '/admin/upstreams/{id}/test'>

export const upstreamsQuery = queryOptions({
  queryKey: [...SERVICE, 'upstreams'],
  queryFn: ({ signal }) => api.get('/admin/upstreams', { signal }),
})

/** An upstream brings models, and takes them along. */
export const UPSTREAMS_CHANGE = MODELS_CHANGE

export const SOURCE_WORDS = perLanguage((): Readonly<Record<Upstream['source'], string>> => ({
  file: t('do arquivo'),
  environment: t('do ambiente'),
  browser: t('acrescentado aqui'),
  built_in: t('da sandbox'),
}))

export const STATE_WORDS = perLanguage((): Readonly<Record<Upstream['state'], string>> => ({
  active: t('ativo'),
  draining: t('drenando'),
  paused: t('pausado'),
}))

const KINDS: Readonly<Record<string, string>> = {
  'azure-openai': 'Azure OpenAI',
  fireworks: 'Fireworks AI',
  groq: 'Groq',
  'lm-studio': 'LM Studio',
  ollama: 'Ollama',
  openrouter: 'OpenRouter',
  together: 'Together AI',
  vllm: 'vLLM',
}

/** The provider's own name; an unknown kind as it is written. */
export function kindWords(kind: string): string {
  return kind === 'openai-compatible'
    ? t('Compatível com a OpenAI')
    : (Object.hasOwn(KINDS, kind) && KINDS[kind]) || makerOf(kind)
}

/** What its test saw, in a sentence or two. */
export function testWords(test: UpstreamTest): string {
  const listed =
    test.list_fault ??
    t('Na lista: {models}.', {
      models: counted(test.models_listed ?? 0, t('modelo'), t('modelos')),
    })
  const asked =
    test.answer_fault ??
    t('{model} respondeu em {ms} ms.', {
      model: test.asked_model ?? '',
      ms: test.latency_ms ?? 0,
    })
  return `${listed} ${asked}`
}
