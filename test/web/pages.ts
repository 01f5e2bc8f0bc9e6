/** Every page of the dashboard: each is opened in both themes and widths, and looked at by axe. */
export interface WebPage {
  readonly path: string
  /** Its `<h1>`. */
  readonly heading: string
  /** Seen without signing in. */
  readonly isPublic?: boolean
}

export const PAGES: readonly WebPage[] = [
  { path: '/entrar', heading: 'Entrar', isPublic: true },
  { path: '/cadastrar', heading: 'Criar conta', isPublic: true },
  { path: '/confirmado', heading: 'E-mail confirmado', isPublic: true },
  { path: '/status', heading: 'Status', isPublic: true },
  { path: '/nada-aqui', heading: 'Página não encontrada', isPublic: true },
  { path: '/', heading: 'Início' },
  { path: '/perfil', heading: 'Perfil' },
  { path: '/recargas', heading: 'Recargas' },
  { path: '/reembolsos', heading: 'Reembolsos' },
  { path: '/chaves', heading: 'Chaves' },
  { path: '/uso', heading: 'Uso' },
  { path: '/sessoes', heading: 'Sessões' },
  { path: '/modelos', heading: 'Modelos' },
  { path: '/alertas', heading: 'Alertas' },
  { path: '/webhooks', heading: 'Webhooks' },
  { path: '/notificacoes', heading: 'Notificações' },
  { path: '/indicacoes', heading: 'Indicações' },
]
