/**
 * The curated catalog of built-in models. Prices come from the price data package; `priceFrom` names the entry. What it
 * cannot say has its price here, from the maker's price list.
 *
 * `imageTokensMax` is an upper bound for the tokens of one image, from the makers' documentation. It only has to be
 * high enough, because the true number is charged. `outputTokensMax` is the maker's limit for one answer.
 *
 * `endsOn` is what the maker's page says (29 November 2026); an "earliest" day is none. A model that ended and that no test
 * needs is not here.
 */
import type { PricesConfig } from './catalog-config-schema.ts'
import type { Model, ModelCategory, Tokenizer } from './model.ts'
import type { PriceSource } from './price-from-data.ts'

export interface BuiltInModel extends Pick<
  Model,
  'canReason' | 'embedding' | 'image' | 'audio' | 'speech' | 'video' | 'endsOn' | 'replacedBy'
> {
  readonly id: string
  readonly displayName: string
  readonly category: ModelCategory
  readonly description: string
  readonly vendor: string
  /** The entry in the `@pydantic/genai-prices` data. */
  readonly priceFrom?: PriceSource
  /** In place of `priceFrom`. */
  readonly prices?: PricesConfig
  readonly contextTokens: number
  readonly outputTokensMax: number
  readonly imageTokensMax: number
  readonly hiddenPromptTokensMax?: number
  readonly tokenizer?: Tokenizer
  readonly supportsTools: boolean
  readonly markup: string
  readonly routes: readonly { readonly upstreamId: string; readonly upstreamModel: string }[]
}

type Limits = Pick<
  BuiltInModel,
  | 'contextTokens'
  | 'outputTokensMax'
  | 'imageTokensMax'
  | 'hiddenPromptTokensMax'
  | 'canReason'
  | 'embedding'
  | 'image'
  | 'audio'
  | 'speech'
  | 'video'
  | 'prices'
> & {
  supportsTools?: boolean
}
type Names = Pick<BuiltInModel, 'id' | 'displayName' | 'description' | 'endsOn' | 'replacedBy'> & {
  /** The model's name at the upstream, and in the price data, if they differ from the id. */
  readonly upstreamModel?: string
  readonly pricedAs?: string
  readonly pricedOn?: PriceSource['weekdays']
}

/** Within the range of other resellers. Below about 1.12, small card top-ups lose money. */
export const MARKUP = '1.25'

/** Defines the models of one maker that are served by one upstream. */
function maker(
  vendor: string,
  upstreamId: string,
  provider: string,
  tokenizers: Readonly<Record<string, Tokenizer>> = {},
) {
  return (
    category: ModelCategory,
    { upstreamModel, pricedAs, pricedOn, ...names }: Names,
    limits: Limits,
  ): BuiltInModel => ({
    ...names,
    ...(tokenizers[names.id] ? { tokenizer: tokenizers[names.id] as Tokenizer } : {}),
    category,
    vendor,
    ...(!limits.prices && {
      priceFrom: {
        provider,
        model: pricedAs ?? upstreamModel ?? names.id,
        ...(pricedOn && { weekdays: pricedOn }),
      },
    }),
    supportsTools: category === 'llm',
    ...limits,
    markup: MARKUP,
    routes: [{ upstreamId, upstreamModel: upstreamModel ?? names.id }],
  })
}

/** Tokenizers of the models that the maker's own tables name. Newer models have none, so bytes bound their prompts. */
const OPENAI_TOKENIZERS: Readonly<Record<string, Tokenizer>> = {
  'gpt-5.2': 'o200k_base',
  'gpt-5.1': 'o200k_base',
  'gpt-5': 'o200k_base',
  'gpt-5-mini': 'o200k_base',
  'gpt-5-nano': 'o200k_base',
  'gpt-4.1': 'o200k_base',
  'gpt-4.1-mini': 'o200k_base',
  'gpt-4.1-nano': 'o200k_base',
  'gpt-4o': 'o200k_base',
  'gpt-4o-mini': 'o200k_base',
  o3: 'o200k_base',
  'text-embedding-3-small': 'cl100k_base',
  'text-embedding-3-large': 'cl100k_base',
  'text-embedding-ada-002': 'cl100k_base',
}

const openai = maker('openai', 'openai', 'openai', OPENAI_TOKENIZERS)
const anthropic = maker('anthropic', 'anthropic', 'anthropic')
const google = maker('google', 'google', 'google')
const deepseek = maker('deepseek', 'deepseek', 'deepseek')
const mistral = maker('mistral', 'mistral', 'mistral')
const xai = maker('xai', 'xai', 'x-ai')
const openWeights = maker('openai', 'groq', 'groq')

/** Traits of models that generate no text tokens. */
const noChat = { outputTokensMax: 1, imageTokensMax: 0, supportsTools: false }
/** Tokens of the largest image of each quality, from the maker's table. */
const gptImage = {
  sizes: ['1024x1024', '1536x1024', '1024x1536'],
  tokensMax: { low: 408, medium: 1_584, high: 6_240 },
}
/**
 * Of an image to edit: 65, 129 for each tile of the shorter side of 512 pixels, and up to 6,144 with `input_fidelity`
 * high.
 */
const GPT_IMAGE_INPUT_TOKENS = 12_000
const HOUR = 3_600
/** From one second to fifteen; without a length, eight. */
const VIDEO_SECONDS = [8, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]
const VIDEO_480P = ['854x480', '480x854', '480x480']
const VIDEO_720P = ['1280x720', '720x1280', '720x720']
const VIDEO_1080P = ['1920x1080', '1080x1920', '1080x1080']
const videoLimits = { contextTokens: 8_192, ...noChat }

function perSecond(sizes: readonly string[], usd: string): Record<string, string> {
  return Object.fromEntries(sizes.map((size) => [size, usd]))
}

/**
 * xAI's models bill instructions that they add to every prompt: answers to a greeting report 686 (grok-4) and 206
 * (grok-code-fast-1) prompt tokens. Nothing is published; this is three times the most that was seen.
 */
const XAI_HIDDEN_PROMPT = 2_048
/**
 * DeepSeek's peak prices apply from Monday to Friday in Beijing (its pricing page, since 2026-08-23). On Chinese public
 * holidays, which are not known here, the peak price is charged.
 */
const DEEPSEEK_PEAK_DAYS = { days: [1, 2, 3, 4, 5], utcOffsetHours: 8 }

export const builtInModels: readonly BuiltInModel[] = [
  openai(
    'llm',
    {
      id: 'gpt-6-astra',
      displayName: 'GPT-6 Astra',
      description: 'O mais capaz da OpenAI, para os trabalhos mais difíceis de ponta a ponta.',
    },
    { contextTokens: 1_050_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-6-sol',
      displayName: 'GPT-6 Sol',
      description: 'Para código complexo e agentes, com um milhão de tokens de contexto.',
    },
    { contextTokens: 1_050_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-6-luna',
      displayName: 'GPT-6 Luna',
      description: 'Eficiente para tarefas bem definidas em grande volume.',
    },
    { contextTokens: 1_050_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-5.2',
      displayName: 'GPT-5.2',
      description: 'O modelo mais capaz da linha GPT-5 para raciocínio, código e agentes.',
    },
    { contextTokens: 400_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-5.1',
      displayName: 'GPT-5.1',
      description: 'Raciocínio com esforço ajustável, bom equilíbrio entre qualidade e preço.',
      endsOn: '2027-04-01',
    },
    { contextTokens: 400_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-5',
      displayName: 'GPT-5',
      description: 'Modelo de raciocínio para tarefas longas, código e uso de ferramentas.',
      endsOn: '2026-12-11',
    },
    { contextTokens: 400_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-5-mini',
      displayName: 'GPT-5 mini',
      description: 'Versão rápida e barata do GPT-5 para tarefas bem definidas.',
      endsOn: '2026-12-11',
    },
    { contextTokens: 400_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-5-nano',
      displayName: 'GPT-5 nano',
      description: 'O menor preço da linha GPT-5, para resumo e classificação em volume.',
      endsOn: '2026-12-11',
      replacedBy: 'gpt-6-luna',
    },
    { contextTokens: 400_000, outputTokensMax: 128_000, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-4.1',
      displayName: 'GPT-4.1',
      description: 'Segue instruções com precisão e lê até um milhão de tokens.',
      endsOn: '2027-01-14',
      replacedBy: 'gpt-6-luna',
    },
    { canReason: false, contextTokens: 1_047_576, outputTokensMax: 32_768, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-4.1-mini',
      displayName: 'GPT-4.1 mini',
      description: 'Contexto longo com baixa latência e custo.',
      endsOn: '2027-01-14',
      replacedBy: 'gpt-6-luna',
    },
    { canReason: false, contextTokens: 1_047_576, outputTokensMax: 32_768, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-4.1-nano',
      displayName: 'GPT-4.1 nano',
      description: 'Rápido e econômico para extração e classificação.',
      endsOn: '2026-10-23',
    },
    { canReason: false, contextTokens: 1_047_576, outputTokensMax: 32_768, imageTokensMax: 20_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-4o',
      displayName: 'GPT-4o',
      description: 'Modelo multimodal versátil para texto e imagens.',
      endsOn: '2027-01-14',
      replacedBy: 'gpt-6-luna',
    },
    { canReason: false, contextTokens: 128_000, outputTokensMax: 16_384, imageTokensMax: 3_000 },
  ),
  openai(
    'llm',
    {
      id: 'gpt-4o-mini',
      displayName: 'GPT-4o mini',
      description: 'Pequeno, rápido e barato para o dia a dia.',
      endsOn: '2027-01-14',
      replacedBy: 'gpt-6-luna',
    },
    { canReason: false, contextTokens: 128_000, outputTokensMax: 16_384, imageTokensMax: 100_000 },
  ),
  openai(
    'llm',
    {
      id: 'o3',
      displayName: 'o3',
      description: 'Raciocínio profundo em matemática, ciência e código.',
      endsOn: '2026-12-11',
    },
    { contextTokens: 200_000, outputTokensMax: 100_000, imageTokensMax: 20_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-fable-5-1',
      displayName: 'Claude Fable 5.1',
      description: 'O mais capaz da Anthropic, para raciocínio exigente e agentes de longo fôlego.',
    },
    { contextTokens: 1_000_000, outputTokensMax: 128_000, imageTokensMax: 6_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-opus-5-5',
      displayName: 'Claude Opus 5.5',
      description: 'Código com agentes e trabalho de conhecimento de longa duração.',
    },
    { contextTokens: 1_000_000, outputTokensMax: 128_000, imageTokensMax: 6_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-sonnet-5',
      displayName: 'Claude Sonnet 5',
      description: 'O Sonnet mais capaz para agentes, a um preço menor que o do Opus.',
    },
    { contextTokens: 1_000_000, outputTokensMax: 128_000, imageTokensMax: 6_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-opus-4-5',
      displayName: 'Claude Opus 4.5',
      description: 'O mais capaz da geração 4.5, para código e agentes.',
    },
    { contextTokens: 200_000, outputTokensMax: 64_000, imageTokensMax: 6_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-sonnet-4-5',
      displayName: 'Claude Sonnet 4.5',
      description: 'Equilíbrio entre inteligência, velocidade e preço para agentes e código.',
    },
    { contextTokens: 200_000, outputTokensMax: 64_000, imageTokensMax: 6_000 },
  ),
  anthropic(
    'llm',
    {
      id: 'claude-haiku-4-5',
      displayName: 'Claude Haiku 4.5',
      description: 'O Claude mais rápido, para atendimento e volume.',
    },
    { contextTokens: 200_000, outputTokensMax: 64_000, imageTokensMax: 6_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-3.1-pro-preview',
      displayName: 'Gemini 3.1 Pro',
      description: 'Compreensão multimodal, agentes e código (prévia).',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-3.8-flash',
      displayName: 'Gemini 3.8 Flash',
      description: 'O Flash mais inteligente do Google, para software e agentes autônomos.',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-3.1-flash-lite',
      displayName: 'Gemini 3.1 Flash-Lite',
      description: 'Rápido e econômico, para volume com baixa latência.',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-2.5-pro',
      displayName: 'Gemini 2.5 Pro',
      description: 'Raciocínio e contexto de um milhão de tokens.',
      endsOn: '2026-12-01',
      replacedBy: 'gemini-3.8-flash',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-2.5-flash',
      displayName: 'Gemini 2.5 Flash',
      description: 'Rápido, com raciocínio e contexto longo.',
      endsOn: '2026-12-01',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-2.5-flash-lite',
      displayName: 'Gemini 2.5 Flash-Lite',
      description: 'O menor custo da linha Gemini 2.5.',
    },
    { contextTokens: 1_048_576, outputTokensMax: 65_536, imageTokensMax: 20_000 },
  ),
  google(
    'llm',
    {
      id: 'gemini-2.0-flash',
      displayName: 'Gemini 2.0 Flash',
      description: 'Multimodal e veloz para aplicações em tempo real.',
      endsOn: '2026-06-01',
    },
    { canReason: false, contextTokens: 1_048_576, outputTokensMax: 8_192, imageTokensMax: 20_000 },
  ),
  deepseek(
    'llm',
    {
      id: 'deepseek-v4-pro',
      displayName: 'DeepSeek V4 Pro',
      description: 'O mais capaz da DeepSeek, com um milhão de tokens de contexto.',
      pricedOn: DEEPSEEK_PEAK_DAYS,
    },
    { contextTokens: 1_000_000, outputTokensMax: 384_000, imageTokensMax: 0 },
  ),
  deepseek(
    'llm',
    {
      id: 'deepseek-v4-flash',
      displayName: 'DeepSeek V4 Flash',
      description: 'Rápido e barato, com raciocínio e um milhão de tokens de contexto.',
      pricedOn: DEEPSEEK_PEAK_DAYS,
    },
    { contextTokens: 1_000_000, outputTokensMax: 384_000, imageTokensMax: 0 },
  ),
  deepseek(
    'llm',
    {
      id: 'deepseek-chat',
      displayName: 'DeepSeek Chat',
      description: 'Modelo geral de ótimo custo-benefício.',
      endsOn: '2026-07-24',
      replacedBy: 'deepseek-v4-flash',
    },
    { contextTokens: 131_072, outputTokensMax: 8_192, imageTokensMax: 0 },
  ),
  deepseek(
    'llm',
    {
      id: 'deepseek-reasoner',
      displayName: 'DeepSeek Reasoner',
      description: 'Raciocínio passo a passo a baixo custo.',
      endsOn: '2026-07-24',
      replacedBy: 'deepseek-v4-flash',
    },
    { contextTokens: 131_072, outputTokensMax: 65_536, imageTokensMax: 0 },
  ),
  mistral(
    'llm',
    {
      id: 'mistral-large',
      displayName: 'Mistral Large 3',
      upstreamModel: 'mistral-large-2512',
      description: 'Modelo aberto de grande porte, forte em idiomas europeus.',
    },
    { contextTokens: 262_144, outputTokensMax: 262_144, imageTokensMax: 6_000 },
  ),
  mistral(
    'llm',
    {
      id: 'mistral-small',
      displayName: 'Mistral Small',
      upstreamModel: 'mistral-small-latest',
      description: 'Compacto e rápido para tarefas simples.',
    },
    { contextTokens: 131_072, outputTokensMax: 131_072, imageTokensMax: 6_000 },
  ),
  mistral(
    'llm',
    {
      id: 'codestral',
      displayName: 'Codestral',
      upstreamModel: 'codestral-latest',
      pricedAs: 'codestral',
      description: 'Especialista em geração e edição de código.',
    },
    { canReason: false, contextTokens: 256_000, outputTokensMax: 256_000, imageTokensMax: 0 },
  ),
  xai(
    'llm',
    {
      id: 'grok-4.6',
      displayName: 'Grok 4.6',
      description: 'O mais capaz da xAI, com texto, imagens, ferramentas e raciocínio.',
    },
    {
      contextTokens: 500_000,
      outputTokensMax: 500_000,
      imageTokensMax: 6_000,
      hiddenPromptTokensMax: XAI_HIDDEN_PROMPT,
    },
  ),
  xai(
    'llm',
    {
      id: 'grok-4',
      displayName: 'Grok 4',
      upstreamModel: 'grok-4-0709',
      description: 'Raciocínio avançado com uso de ferramentas.',
      endsOn: '2026-05-15',
    },
    {
      contextTokens: 256_000,
      outputTokensMax: 256_000,
      imageTokensMax: 6_000,
      hiddenPromptTokensMax: XAI_HIDDEN_PROMPT,
    },
  ),
  xai(
    'llm',
    { id: 'grok-3-mini', displayName: 'Grok 3 mini', description: 'Raciocínio leve e barato.' },
    {
      contextTokens: 131_072,
      outputTokensMax: 131_072,
      imageTokensMax: 0,
      hiddenPromptTokensMax: XAI_HIDDEN_PROMPT,
    },
  ),
  xai(
    'llm',
    {
      id: 'grok-code-fast',
      displayName: 'Grok Code Fast',
      upstreamModel: 'grok-code-fast-1',
      description: 'Programação com agentes, com baixa latência.',
      endsOn: '2026-05-15',
    },
    {
      contextTokens: 256_000,
      outputTokensMax: 256_000,
      imageTokensMax: 0,
      hiddenPromptTokensMax: XAI_HIDDEN_PROMPT,
    },
  ),
  openWeights(
    'llm',
    {
      id: 'gpt-oss-120b',
      displayName: 'GPT-OSS 120B',
      upstreamModel: 'openai/gpt-oss-120b',
      description: 'Pesos abertos com raciocínio, servido em alta velocidade.',
    },
    { contextTokens: 131_072, outputTokensMax: 65_536, imageTokensMax: 0 },
  ),
  openWeights(
    'llm',
    {
      id: 'gpt-oss-20b',
      displayName: 'GPT-OSS 20B',
      upstreamModel: 'openai/gpt-oss-20b',
      description: 'Pesos abertos, pequeno e rápido.',
    },
    { contextTokens: 131_072, outputTokensMax: 65_536, imageTokensMax: 0 },
  ),
  openai(
    'embedding',
    {
      id: 'text-embedding-3-small',
      displayName: 'Text Embedding 3 Small',
      description: 'Vetores de 1536 dimensões para busca semântica a baixo custo.',
    },
    { contextTokens: 8_192, ...noChat, embedding: { dimensions: 1_536, canShorten: true } },
  ),
  openai(
    'embedding',
    {
      id: 'text-embedding-3-large',
      displayName: 'Text Embedding 3 Large',
      description: 'Vetores de 3072 dimensões para a melhor busca semântica.',
    },
    { contextTokens: 8_192, ...noChat, embedding: { dimensions: 3_072, canShorten: true } },
  ),
  openai(
    'embedding',
    {
      id: 'text-embedding-ada-002',
      displayName: 'Text Embedding Ada 002',
      description: 'Vetores de 1536 dimensões, que várias bibliotecas pedem por padrão.',
    },
    { contextTokens: 8_192, ...noChat, embedding: { dimensions: 1_536, canShorten: false } },
  ),
  google(
    'embedding',
    {
      id: 'gemini-embedding-001',
      displayName: 'Gemini Embedding',
      description: 'Vetores multilíngues para busca e agrupamento.',
    },
    { contextTokens: 2_048, ...noChat, embedding: { dimensions: 3_072, canShorten: true } },
  ),
  mistral(
    'embedding',
    {
      id: 'mistral-embed',
      displayName: 'Mistral Embed',
      description: 'Vetores de 1024 dimensões para textos em várias línguas.',
    },
    { contextTokens: 8_192, ...noChat, embedding: { dimensions: 1_024, canShorten: false } },
  ),
  openai(
    'image',
    {
      id: 'gpt-image-1',
      displayName: 'GPT Image 1',
      description: 'Gera e edita imagens a partir de texto.',
      endsOn: '2026-10-23',
    },
    {
      contextTokens: 32_000,
      ...noChat,
      imageTokensMax: GPT_IMAGE_INPUT_TOKENS,
      image: gptImage,
    },
  ),
  openai(
    'image',
    {
      id: 'gpt-image-1-mini',
      displayName: 'GPT Image 1 mini',
      description: 'Geração de imagens a baixo custo.',
      endsOn: '2026-12-01',
    },
    {
      contextTokens: 32_000,
      ...noChat,
      imageTokensMax: GPT_IMAGE_INPUT_TOKENS,
      image: gptImage,
    },
  ),
  google(
    'image',
    {
      id: 'gemini-2.5-flash-image',
      displayName: 'Gemini 2.5 Flash Image',
      description: 'Gera e edita imagens com rapidez e consistência de personagens.',
    },
    {
      contextTokens: 32_768,
      ...noChat,
      image: { sizes: ['1024x1024'], tokensMax: { high: 1_290 } },
    },
  ),
  openai(
    'audio',
    {
      id: 'whisper-1',
      displayName: 'Whisper',
      description: 'Transcrição de áudio em dezenas de línguas.',
      endsOn: '2027-02-26',
    },
    {
      contextTokens: 448,
      ...noChat,
      // No maximum length is published. This is the length of the largest accepted file at 6 kbit/s.
      audio: { secondsMin: 0, secondsMax: 12 * HOUR, hasTimestamps: true },
    },
  ),
  openWeights(
    'audio',
    {
      id: 'whisper-large-v3-turbo',
      displayName: 'Whisper Large v3 Turbo',
      description: 'Transcrição muito rápida a baixo custo.',
    },
    {
      contextTokens: 448,
      ...noChat,
      audio: { secondsMin: 10, secondsMax: 48 * HOUR, hasTimestamps: true },
    },
  ),
  openai(
    'audio',
    {
      id: 'gpt-4o-transcribe',
      displayName: 'GPT-4o Transcribe',
      description: 'Transcrição de alta precisão, mesmo com ruído.',
      endsOn: '2027-02-26',
    },
    {
      contextTokens: 16_000,
      ...noChat,
      outputTokensMax: 2_000,
      audio: { secondsMin: 0, secondsMax: 1_500, tokensPerSecondMax: 20, hasTimestamps: false },
    },
  ),
  openai(
    'audio',
    {
      id: 'gpt-4o-mini-tts',
      displayName: 'GPT-4o mini TTS',
      description: 'Fala textos em muitas línguas, no tom que se pede.',
      endsOn: '2027-01-06',
    },
    // No longest sound is published. This is three quarters of an hour.
    { contextTokens: 2_000, ...noChat, outputTokensMax: 60_000, speech: true },
  ),
  xai(
    'video',
    {
      id: 'grok-imagine-video-1.5',
      displayName: 'Grok Imagine Video 1.5',
      description: 'Vídeos de até 15 segundos com som, até 1080p, a partir de um texto.',
    },
    {
      ...videoLimits,
      video: { seconds: VIDEO_SECONDS, sizes: [...VIDEO_720P, ...VIDEO_480P, ...VIDEO_1080P] },
      prices: {
        video_seconds: {
          ...perSecond(VIDEO_480P, '0.08'),
          ...perSecond(VIDEO_720P, '0.14'),
          ...perSecond(VIDEO_1080P, '0.25'),
        },
      },
    },
  ),
  xai(
    'video',
    {
      id: 'grok-imagine-video',
      displayName: 'Grok Imagine Video',
      description: 'Vídeos de até 15 segundos com som, mais baratos, a partir de um texto.',
    },
    {
      ...videoLimits,
      video: { seconds: VIDEO_SECONDS, sizes: [...VIDEO_720P, ...VIDEO_480P] },
      prices: {
        video_seconds: { ...perSecond(VIDEO_480P, '0.05'), ...perSecond(VIDEO_720P, '0.07') },
      },
    },
  ),
]
