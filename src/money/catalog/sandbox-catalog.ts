import type { ConfiguredModel, ModelCategory, Route } from './model.ts'
import type { UnitPrices, PriceTerms } from './prices.ts'
import { WEB_SEARCH_UNIT } from './web-search.ts'

/** The behaviour that each model of the sandbox upstream demonstrates; `sandbox/upstream` implements it. */
const DESCRIPTIONS: Record<string, string> = {
  'sandbox-chat': 'Responde como um modelo bem comportado.',
  'sandbox-slow': 'Demora dois segundos e escreve devagar.',
  'sandbox-long': 'Escreve por cerca de oito segundos.',
  'sandbox-big': 'Responde cerca de dois megabytes.',
  'sandbox-reasoning': 'Mostra raciocínio e o cobra à parte.',
  'sandbox-cached': 'Lê metade do prompt do cache.',
  'sandbox-no-usage': 'Não informa o consumo.',
  'sandbox-overrun': 'Informa mais consumo do que lhe foi permitido.',
  'sandbox-split': 'Envia a resposta cortada em lugares estranhos.',
  'sandbox-flaky': 'Falha uma vez sim, outra não.',
  'sandbox-error-400': 'Recusa a requisição.',
  'sandbox-error-401': 'Recusa a credencial do gateway.',
  'sandbox-error-429': 'Está sempre ocupado.',
  'sandbox-error-500': 'Falha por dentro.',
  'sandbox-error-503': 'Está em manutenção.',
  'sandbox-html-error': 'Responde uma página de erro.',
  'sandbox-error-in-stream': 'Falha no meio da resposta.',
  'sandbox-cut-stream': 'Corta a conexão no meio da resposta.',
  'sandbox-stall': 'Começa a responder e para.',
  'sandbox-hang': 'Nunca responde.',
  'sandbox-garbage': 'Responde algo que não é JSON.',
}

const PRICE = {
  input: 1_000_000n,
  cachedInput: 500_000n,
  cacheWrite: 1_000_000n,
  output: 2_000_000n,
  reasoning: 2_000_000n,
}
/** The big answer has nearly half a million tokens. The other models keep a small limit, so that holds stay small. */
const BIG_OUTPUT_TOKENS = 600_000

const chatModels = Object.entries(DESCRIPTIONS).map(([id, description]) =>
  sandboxModel(id, description, 'llm', {
    contextTokens: id === 'sandbox-big' ? 1_000_000 : 128_000,
    outputTokensMax: id === 'sandbox-big' ? BIG_OUTPUT_TOKENS : 4_096,
    imageTokensMax: 1_000,
    supportsTools: true,
    canReason: id === 'sandbox-reasoning',
  }),
)

const searchModel = sandboxModel(
  'sandbox-search',
  'Pesquisa na web em /v1/responses: cada linha "pesquise …" da mensagem é uma pesquisa.',
  'llm',
  {
    units: { [WEB_SEARCH_UNIT]: 10_000_000_000n },
    contextTokens: 32_000,
    outputTokensMax: 4_096,
    supportsTools: true,
    canReason: false,
  },
)

const moderationModel = sandboxModel(
  'sandbox-moderation',
  'Julga textos pelas palavras deles.',
  'embedding',
  { moderation: true, imageTokensMax: 1_000 },
)

export const sandboxModels: readonly ConfiguredModel[] = [
  ...chatModels,
  { ...searchModel, routes: [plainRoute('sandbox-responses', 'sandbox-chat', searchModel.price)] },
  sandboxModel('sandbox-embedding', 'Transforma textos em vetores.', 'embedding', {
    embedding: { dimensions: 1_536, canShorten: true },
  }),
  sandboxModel('sandbox-rerank', 'Ordena documentos por uma pergunta.', 'embedding', {
    units: { search_units: 2_000_000_000n },
    rerank: true,
  }),
  moderationModel,
  // The model of requests that name none.
  { ...moderationModel, id: 'omni-moderation-latest', displayName: 'omni-moderation-latest' },
  sandboxModel('sandbox-image', 'Desenha imagens de cores suaves.', 'image', {
    imageTokensMax: 1_000,
    image: {
      sizes: ['1024x1024', '512x512', '256x256'],
      tokensMax: { low: 272, medium: 1_056, high: 4_160 },
    },
  }),
  sandboxModel('sandbox-video', 'Faz um vídeo em dois segundos, cobrado por segundo.', 'video', {
    units: { video_seconds: 100_000_000_000n, 'video_seconds:1920x1080': 200_000_000_000n },
    video: { seconds: [4, 8, 12], sizes: ['720x1280', '1280x720', '1920x1080'] },
  }),
  sandboxModel('sandbox-speech', 'Fala um texto, cobrado por caractere.', 'audio', {
    units: { characters: 15_000_000n },
    speech: true,
  }),
  sandboxModel('sandbox-speech-tokens', 'Fala um texto, cobrado por token de som.', 'audio', {
    units: { output_audio_tokens: 12_000_000n },
    outputTokensMax: 100_000,
    speech: true,
  }),
  sandboxModel('sandbox-transcribe', 'Transcreve áudio, cobrado por segundo.', 'audio', {
    units: { audio_seconds: 100_000_000n },
    audio: { secondsMin: 0, secondsMax: 14_400, hasTimestamps: true },
  }),
  sandboxModel('sandbox-transcribe-tokens', 'Transcreve áudio, cobrado por token.', 'audio', {
    units: { input_audio_tokens: 6_000_000n },
    outputTokensMax: 2_000,
    audio: { secondsMin: 0, secondsMax: 1_500, tokensPerSecondMax: 20, hasTimestamps: false },
  }),
]

function sandboxModel(
  id: string,
  description: string,
  category: ModelCategory,
  { units, ...traits }: Partial<ConfiguredModel> & { units?: UnitPrices },
): ConfiguredModel {
  const price = { tiers: [{ abovePromptTokens: 0, ...PRICE }], ...(units ? { units } : {}) }
  return {
    id,
    displayName: id,
    category,
    description,
    vendor: 'sandbox',
    markupE4: 12_500n,
    price,
    contextTokens: 8_192,
    outputTokensMax: 1,
    imageTokensMax: 0,
    tokenizer: 'o200k_base',
    supportsTools: false,
    strategy: 'priority',
    routes: [plainRoute('sandbox', id, price)],
    ...traits,
  }
}

/** A route with the default weight and no limit of concurrent calls. */
export function plainRoute<P extends PriceTerms>(
  upstreamId: string,
  upstreamModel: string,
  price: P,
  priority = 0,
): Route<P> {
  return { upstreamId, upstreamModel, price, priority, weight: 1, concurrencyMax: Infinity }
}
