/** How pages name models, their kinds and their units. */
import type { Model, ModelCategory } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { language, t } from '../../platform/lib/language.ts'
import { chargeFor, type PicoUsd } from '../../platform/lib/money.ts'
import { roundedBrl, shortCount } from './amounts.ts'
import { isKnownMaker, makerOf as makerName, UNKNOWN_MAKER } from './makers.ts'

export const CATEGORY_WORDS: Readonly<Record<ModelCategory, string>> = {
  llm: 'Chat',
  embedding: 'Embeddings',
  image: 'Imagem',
  audio: 'Áudio',
  video: 'Vídeo',
}

const UNIT_WORDS: Readonly<Record<string, string>> = {
  input_audio_tokens: 'tokens de áudio lidos',
  output_audio_tokens: 'tokens de áudio escritos',
  input_image_tokens: 'tokens de imagem lidos',
  output_image_tokens: 'tokens de imagem gerados',
  cache_write_1h_tokens: 'tokens gravados no cache por 1 h, a mais',
}

export interface UnitPrice {
  readonly what: string
  /** The number of units that have this price together. */
  readonly count: bigint
  readonly each: PicoUsd
}

/** Returns the prices of units other than text tokens, for the quantities that people compare. */
export function unitPrices({ price: { units = {} } }: Model): UnitPrice[] {
  return Object.entries(units).map(([unit, each]) => {
    const [name = unit, ...kinds] = unit.split(':')
    const texts = kinds.map((kind) =>
      /^\d+$/.test(kind) ? t`acima de ${shortCount(Number(kind))} de entrada` : kind,
    )
    const suffix = texts.length === 0 ? '' : ` (${texts.join(', ')})`
    if (name.endsWith('_tokens'))
      return { what: t`milhão de ${t(UNIT_WORDS[name] ?? name)}${suffix}`, count: 1_000_000n, each }
    if (name === 'audio_seconds') return { what: t`minuto de áudio${suffix}`, count: 60n, each }
    if (name === 'characters')
      return { what: t('milhão de caracteres falados'), count: 1_000_000n, each }
    if (name === 'search_units')
      return { what: t('mil pesquisas de até 100 documentos'), count: 1_000n, each }
    if (name === 'web_searches') return { what: t('mil pesquisas na web'), count: 1_000n, each }
    if (name === 'video_seconds') return { what: t`segundo de vídeo${suffix}`, count: 1n, each }
    return { what: `${name === 'images' ? t('imagem') : name}${suffix}`, count: 1n, each }
  })
}

export function unitPriceTexts(model: Model, { rateE4 }: FxRate): string[] {
  const conversion = { fxRateE4: rateE4, markupE4: model.markupE4 }
  return unitPrices(model).map(
    ({ what, count, each }) => t`${roundedBrl(chargeFor(each * count, conversion))} por ${what}`,
  )
}

/** Whether text tokens have a price: some models charge only for images or seconds. */
export function isPaidByTokens({ price }: Model): boolean {
  return price.tiers.some(({ input, output }) => input + output > 0n)
}

export function modelPath({ id }: Pick<Model, 'id'>): string {
  return `/modelos/${id.split('/').map(encodeURIComponent).join('/')}`
}

/** The words in code that people read: texts, comments and names. */
const CODE_WORDS = [
  'Uma catraca de metrô ao pôr do sol',
  'Uma catraca de metrô',
  'O reembolso é pedido em Saldo.',
  'O saldo não vence.',
  'Como peço reembolso?',
  'quanto custou, em reais',
  'SUA_CHAVE',
  'resposta',
  'reuniao',
  'Olá!',
  'Olá! Como posso ajudar?',
  'Conte uma história curta.',
  'Era uma vez…',
  'Era',
  'uma vez',
  'Extraia o pedido: duas pizzas para Ana, em Recife.',
  'Em JSON, com nome e capital: o Ceará.',
  'Qual é a previsão do tempo em Recife?',
  'A previsão do tempo de uma cidade.',
  'previsao_do_tempo',
  'Sol em',
  'Sol, 29 °C',
  'a sua função',
  'O que há nesta imagem?',
  'agente de testes',
  'relatorio',
  'Bom dia!',
  'Boa noite!',
  'Se a entrega é da Catraca. corpo: os bytes recebidos, sem mudar nada.',
  "Se a entrega é da Catraca. $corpo: file_get_contents('php://input'), sem mudar nada.",
  'Pode haver mais de uma assinatura, separadas por espaço.',
  'Explique este projeto',
  'SEU_SEGREDO',
  'SEU_TOKEN',
  'SUA_SESSAO',
  'exemplo.com.br',
  'A mesma catraca, à noite',
  'Resuma em uma frase:',
  'Resuma em duas frases:',
  'Resumo',
  'Dados',
  'produção',
  'notebook do João',
  'codigo-do-convite',
  'a-chave-do-provedor',
  'Saldo baixo',
  'Não vou usar',
  'Pedido do cliente no chamado 1234',
  'Falta o contrato social da empresa.',
  'Ligou do telefone do cadastro e confirmou as últimas recargas.',
  'O Banco Central não responde.',
  'Erro de digitação',
  'Respostas erradas do provedor',
  'Novo contrato',
  'Manutenção do banco de dados',
  'Lentidão',
  'Estamos investigando.',
  'Resolvido.',
  'A recarga já foi gasta.',
  'Tarifa do processador',
  'argumentos',
  'arquivo',
  'assinado',
  'assinatura',
  'cabecalhos',
  'chamada',
  'chamar',
  'chave',
  'cidade',
  'cliente',
  'conferir',
  'corpo',
  'dada',
  'esperada',
  'ferramentas',
  'foto',
  'linhas',
  'mensagem',
  'mensagens',
  'modelo',
  'pedaco',
  'Pedido',
  'pedido',
  'podeRepetir',
  'pronto',
  'quando',
  'quantidade',
  'resultado',
  'segredo',
  'segundos',
  'tentativa',
  'texto',
]

/** A whole word, the longest one that fits. */
const CODE_WORD = new RegExp(
  `(?<![\\p{L}\\d])(?:${CODE_WORDS.toSorted((one, other) => other.length - one.length)
    .map((word) => word.replaceAll(/[$().?]/g, String.raw`\$&`))
    .join('|')})(?![\\p{L}\\d])`,
  'gu',
)

/** Code with its words in the language that is being written. */
export function codeText(code: string): string {
  return code.replaceAll(CODE_WORD, (word) => t(word))
}

export function makerOf({ vendor }: Pick<Model, 'vendor'>): string {
  return vendor === UNKNOWN_MAKER ? t('não informado') : makerName(vendor)
}

/** `da OpenAI`, `do Google`; `de` for a name whose gender nobody knows. In English `by OpenAI`. */
export function ofMaker({ vendor }: Pick<Model, 'vendor'>): string {
  if (vendor === UNKNOWN_MAKER) return t('de fabricante não informado')
  if (language() === 'en-US') return `by ${makerOf({ vendor })}`
  const article = !isKnownMaker(vendor) ? 'de' : vendor === 'google' ? 'do' : 'da'
  return `${article} ${makerOf({ vendor })}`
}

/** Returns the makers of these models, the ones with most models first. */
export function makersOf(models: readonly Model[]): string[] {
  const counts = new Map<string, number>()
  for (const model of models.filter(({ vendor }) => vendor !== UNKNOWN_MAKER))
    counts.set(makerOf(model), (counts.get(makerOf(model)) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([maker]) => maker)
}
