/** The customers' navigation, in order. Only finished pages are listed. */
import type { LinkProps } from '@tanstack/react-router'
import {
  Activity,
  Bell,
  Boxes,
  ChartColumn,
  FileText,
  Gift,
  House,
  KeyRound,
  Mail,
  MessagesSquare,
  Route,
  ShieldCheck,
  Undo2,
  UserRound,
  Users,
  Wallet,
  Webhook,
  type LucideIcon,
} from 'lucide-react'

export interface MenuEntry {
  readonly to: NonNullable<LinkProps['to']>
  readonly label: string
  readonly icon: LucideIcon
  /** One of the four entries that fit in the bar at the bottom of a phone. */
  readonly isOnPhoneBar?: boolean
}

export const MENU: readonly MenuEntry[] = [
  { to: '/', label: 'Início', icon: House, isOnPhoneBar: true },
  { to: '/recargas', label: 'Recargas', icon: Wallet, isOnPhoneBar: true },
  { to: '/chaves', label: 'Chaves', icon: KeyRound, isOnPhoneBar: true },
  { to: '/uso', label: 'Uso', icon: ChartColumn, isOnPhoneBar: true },
  { to: '/playground', label: 'Playground', icon: MessagesSquare },
  { to: '/sessoes', label: 'Sessões', icon: Route },
  { to: '/prompts', label: 'Prompts', icon: FileText },
  { to: '/modelos', label: 'Modelos', icon: Boxes },
  { to: '/alertas', label: 'Alertas', icon: Bell },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook },
  { to: '/notificacoes', label: 'Notificações', icon: Mail },
  { to: '/equipes', label: 'Equipes', icon: Users },
  { to: '/indicacoes', label: 'Indicações', icon: Gift },
  { to: '/reembolsos', label: 'Reembolsos', icon: Undo2 },
  { to: '/seguranca', label: 'Segurança', icon: ShieldCheck },
  { to: '/perfil', label: 'Perfil', icon: UserRound },
  { to: '/status', label: 'Status', icon: Activity },
]
