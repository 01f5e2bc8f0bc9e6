/** Every page of the dashboard: each is opened in both themes and widths, and checked by axe. */
import type { OwnThings } from './seed-things.ts'

export interface WebPage {
  readonly path: string
  /** Its `<h1>`. */
  readonly heading: string
  /** Visible without signing in. */
  readonly isPublic?: boolean
  /** Visible to operators only. */
  readonly isForAdmin?: boolean
}

export const PAGES: readonly WebPage[] = [
  { path: '/entrar', heading: 'Entrar', isPublic: true },
  { path: '/entrar/codigo', heading: 'Verificação em duas etapas', isPublic: true },
  { path: '/cadastrar', heading: 'Criar conta', isPublic: true },
  { path: '/confirmado', heading: 'E-mail confirmado', isPublic: true },
  { path: '/status', heading: 'Status', isPublic: true },
  { path: '/nada-aqui', heading: 'Página não encontrada', isPublic: true },
  { path: '/', heading: 'Início' },
  { path: '/seguranca', heading: 'Segurança' },
  { path: '/perfil', heading: 'Perfil' },
  { path: '/recargas', heading: 'Recargas' },
  { path: '/recargas/extrato', heading: 'Extrato' },
  { path: '/reembolsos', heading: 'Reembolsos' },
  { path: '/chaves', heading: 'Chaves' },
  { path: '/uso', heading: 'Uso' },
  { path: '/playground', heading: 'Playground' },
  { path: '/sessoes', heading: 'Sessões' },
  { path: '/prompts', heading: 'Prompts' },
  { path: '/prompts/novo', heading: 'Novo prompt' },
  { path: '/modelos', heading: 'Modelos' },
  { path: '/alertas', heading: 'Alertas' },
  { path: '/webhooks', heading: 'Webhooks' },
  { path: '/destinos-de-uso', heading: 'Destinos de uso' },
  { path: '/notificacoes', heading: 'Notificações' },
  { path: '/equipes', heading: 'Equipes' },
  { path: '/indicacoes', heading: 'Indicações' },
  { path: '/admin', heading: 'Visão geral', isForAdmin: true },
  { path: '/admin/clientes', heading: 'Clientes', isForAdmin: true },
  { path: '/admin/ajustes', heading: 'Ajustes', isForAdmin: true },
  { path: '/admin/reembolsos', heading: 'Reembolsos', isForAdmin: true },
  { path: '/admin/conciliacao', heading: 'Conciliação', isForAdmin: true },
  { path: '/admin/auditoria', heading: 'Auditoria', isForAdmin: true },
  { path: '/admin/margens', heading: 'Margens', isForAdmin: true },
  { path: '/admin/modelos', heading: 'Modelos', isForAdmin: true },
  { path: '/admin/provedores', heading: 'Provedores', isForAdmin: true },
  { path: '/admin/cambio', heading: 'Câmbio', isForAdmin: true },
  { path: '/admin/incidentes', heading: 'Incidentes', isForAdmin: true },
  { path: '/admin/saude', heading: 'Saúde', isForAdmin: true },
  { path: '/admin/entregas', heading: 'Entregas', isForAdmin: true },
]

/** The detail pages of the customer's own things; `name` is the customer's. */
export function detailPages(own: OwnThings, name: string): readonly WebPage[] {
  return [
    { path: '/modelos/gpt-4o', heading: 'GPT-4o' },
    { path: '/sessoes/pedido-1', heading: 'Sessão pedido-1' },
    { path: `/prompts/${own.promptId}`, heading: 'Resposta ao cliente' },
    { path: `/equipes/${own.teamId}`, heading: 'Produto' },
    { path: `/webhooks/${own.webhookId}`, heading: 'Webhook' },
    { path: `/admin/clientes/${own.customerId}`, heading: name, isForAdmin: true },
  ]
}

/** Pages that the server renders for visitors without a session. */
export const VISITOR_PAGES: readonly { path: string; heading: string; name: string }[] = [
  { path: '/', heading: 'Modelos de IA pagos em reais, por Pix', name: 'visita' },
  { path: '/modelos', heading: 'Modelos e preços', name: 'visita-modelos' },
  { path: '/modelos/gpt-4o', heading: 'GPT-4o', name: 'visita-modelo' },
  { path: '/modelos/nada', heading: 'Modelo não encontrado', name: 'visita-nada' },
  { path: '/verificar', heading: 'Conferir uma cobrança', name: 'visita-verificar' },
  { path: '/status', heading: 'Status', name: 'visita-status' },
  { path: '/cambio', heading: 'Câmbio aplicado', name: 'visita-cambio' },
  { path: '/termos', heading: 'Termos de uso', name: 'visita-termos' },
  { path: '/privacidade', heading: 'Política de privacidade', name: 'visita-privacidade' },
  { path: '/chave-vazada', heading: 'Chave de API exposta', name: 'visita-chave-vazada' },
  { path: '/docs', heading: 'Documentação para desenvolvedores', name: 'visita-docs' },
]
