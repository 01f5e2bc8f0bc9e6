/** The pages of the reference: the operations of one resource each, in the order of the document. */
import type { Operation } from './api-document.ts'

export interface ReferenceResource {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly isForOperators: boolean
  readonly operations: readonly Operation[]
}

interface Place {
  readonly pattern: RegExp
  readonly slug: string
  readonly title: string
  readonly description: string
}

const CUSTOMERS: readonly Place[] = [
  {
    pattern: / \/(files(?!\/images)|batches|messages\/batches)\b/,
    slug: 'lotes',
    title: 'Arquivos e lotes',
    description: 'Muitas chamadas de uma vez, sem pressa: enviar, acompanhar e ler os resultados.',
  },
  {
    pattern:
      /^POST \/(chat|completions|responses|messages|embeddings|rerank|moderations|images|audio|videos)\b/,
    slug: 'chamadas-de-modelos',
    title: 'Chamadas de modelos',
    description:
      'Chat, Responses, Messages, embeddings, ordem de documentos, imagens, fala, transcrição de áudio e vídeos.',
  },
  {
    pattern: / \/videos\b/,
    slug: 'videos',
    title: 'Vídeos',
    description: 'Acompanhar, baixar e apagar vídeos pedidos.',
  },
  {
    pattern: / \/responses\//,
    slug: 'respostas-guardadas',
    title: 'Respostas guardadas',
    description: 'Ler, listar e apagar respostas que a conta guarda.',
  },
  {
    pattern: / \/(models|model-prices|model-speeds|fx-rates|files)\b/,
    slug: 'catalogo-e-precos',
    title: 'Catálogo e preços',
    description: 'Modelos, preços em reais, rapidez e as taxas de câmbio aplicadas.',
  },
  {
    pattern: / \/(usage|statement|me\/(usage-summary|runway|recommendations))\b/,
    slug: 'uso',
    title: 'Uso e saldo',
    description: 'Saldo, extrato, cobranças, exportações e resumos do que foi gasto.',
  },
  {
    pattern: / \/(me\/public-bills|public-bills|charge-chain)\b/,
    slug: 'contas-publicas',
    title: 'Cobranças públicas',
    description: 'Mostrar uma cobrança ou uma sessão a outros, com a prova de que não mudou.',
  },
  {
    pattern: / \/me\/sessions\b/,
    slug: 'sessoes',
    title: 'Sessões de uso',
    description: 'As chamadas que vieram com o mesmo x-svc-session-id.',
  },
  {
    pattern: / \/(api-keys|leaked-keys|me\/panic)\b/,
    slug: 'chaves',
    title: 'Chaves de API',
    description: 'Criar, limitar, pausar e revogar chaves.',
  },
  {
    pattern: / \/me\/prompts\b/,
    slug: 'prompts',
    title: 'Prompts salvos',
    description: 'Prompts com variáveis, versões e execuções.',
  },
  {
    pattern: / \/me\/(teams|invitations)\b/,
    slug: 'equipes',
    title: 'Equipes',
    description: 'Equipes, membros, convites e chaves dentro de um limite mensal.',
  },
  {
    pattern: / \/me\/alerts\b/,
    slug: 'alertas',
    title: 'Alertas',
    description: 'Avisos de saldo, de gasto e de erros, por e-mail ou webhook.',
  },
  {
    pattern: / \/webhooks\b/,
    slug: 'webhooks',
    title: 'Webhooks',
    description: 'Os destinos dos seus eventos, as tentativas de entrega e o reenvio.',
  },
  {
    pattern: / \/topups\b/,
    slug: 'recargas',
    title: 'Recargas',
    description: 'Recargas por Pix, boleto ou cartão, automáticas também.',
  },
  {
    pattern: / \/payment-methods\b/,
    slug: 'cartoes',
    title: 'Cartões',
    description: 'Cadastrar, listar e excluir cartões.',
  },
  {
    pattern: / \/me\/refunds\b/,
    slug: 'reembolsos',
    title: 'Reembolsos',
    description: 'Pedir e acompanhar reembolsos.',
  },
  {
    pattern: / \/(healthz|upstream-health|incidents)\b/,
    slug: 'estado',
    title: 'Estado do serviço',
    description: 'Se o serviço responde, incidentes abertos e disponibilidade medida.',
  },
  {
    pattern: / \/(me|session)\b/,
    slug: 'conta',
    title: 'Conta',
    description: 'Perfil, preferências, proteção de dados, cópia e exclusão da conta.',
  },
]

const OPERATORS: readonly Place[] = (
  [
    ['overview', 'visao-geral', 'Visão geral', 'O que espera por um operador, e o que falha.'],
    ['customers', 'clientes', 'Clientes', 'Ver, suspender e reativar contas.'],
    ['api-keys', 'chaves', 'Chaves de clientes', 'Pausar e retomar uma chave.'],
    ['adjustments', 'ajustes', 'Ajustes', 'Créditos e débitos lançados à mão, com aprovação.'],
    ['refunds', 'reembolsos', 'Reembolsos', 'Decidir reembolsos que esperam por análise.'],
    ['models', 'modelos', 'Modelos e multiplicadores', 'Tirar modelos do ar e mudar preços.'],
    ['upstreams', 'provedores', 'Provedores', 'Acrescentar, testar e pausar provedores.'],
    ['markups', 'multiplicadores', 'Multiplicadores', 'Mudar os de um fabricante, ou todos.'],
    ['price-updates', 'precos', 'Preços publicados', 'Responder a preços e modelos novos.'],
    ['service', 'servico', 'Pausa do serviço', 'Pausar e retomar todas as chamadas.'],
    ['health', 'saude', 'Saúde', 'Nós, filas, trabalhos, banco de dados e câmbio.'],
    ['incidents', 'incidentes', 'Incidentes', 'O que os clientes leem quando algo falha.'],
    ['webhooks', 'webhooks', 'Webhooks com falhas', 'Destinos que falham ou foram desligados.'],
    ['mails', 'e-mails', 'E-mails com falhas', 'Mensagens que não foram entregues.'],
    ['reconciliation', 'conciliacao', 'Conciliação', 'Diferenças com processador e provedores.'],
    ['upstream-costs', 'faturas', 'Faturas dos provedores', 'Importar e comparar custos.'],
    ['fx-rates', 'cambio', 'Câmbio', 'Definir e retirar uma taxa à mão.'],
    ['margins', 'margens', 'Margens', 'Custo, cobrado e margem por dia.'],
    ['audit-log', 'auditoria', 'Registro de auditoria', 'Quem fez o quê, e quando.'],
  ] as const
).map(([segment, slug, title, description]) => ({
  pattern: new RegExp(` /admin/${segment}\\b`),
  slug,
  title,
  description,
}))

export function resourcesOfReference(
  operations: readonly Operation[],
): readonly ReferenceResource[] {
  const own = operations.filter(({ isForOperators }) => !isForOperators)
  const operators = operations.filter(({ isForOperators }) => isForOperators)
  return [
    ...placed(own, CUSTOMERS, '/docs/referencia', false),
    ...placed(operators, OPERATORS, '/docs/operadores', true),
  ]
}

/** Each operation has the first place whose pattern fits; what fits none is a page at the end. */
function placed(
  operations: readonly Operation[],
  places: readonly Place[],
  folder: string,
  isForOperators: boolean,
): ReferenceResource[] {
  const rest: Place = { pattern: /./, slug: 'outras', title: 'Outras operações', description: '' }
  const placeOf = ({ name }: Operation): Place =>
    places.find(({ pattern }) => pattern.test(name)) ?? rest
  return [...places, rest]
    .map((place) => ({
      path: `${folder}/${place.slug}`,
      title: place.title,
      description: place.description,
      isForOperators,
      operations: operations.filter((operation) => placeOf(operation) === place),
    }))
    .filter((resource) => resource.operations.length > 0)
}
