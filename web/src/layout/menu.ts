/** The customers' navigation, in order and in groups. Only finished pages are listed. */
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
  /** Undefined above all groups. */
  readonly group?: string
  /** One of the four entries that fit in the bar at the bottom of a phone. */
  readonly isOnPhoneBar?: boolean
}

export const MENU: readonly MenuEntry[] = [
  { to: '/', label: 'Início', icon: House, isOnPhoneBar: true },
  ...inGroup('Construir', [
    { to: '/playground', label: 'Playground', icon: MessagesSquare },
    { to: '/chaves', label: 'Chaves', icon: KeyRound, isOnPhoneBar: true },
    { to: '/modelos', label: 'Modelos', icon: Boxes },
    { to: '/prompts', label: 'Prompts', icon: FileText },
    { to: '/sessoes', label: 'Sessões', icon: Route },
    { to: '/webhooks', label: 'Webhooks', icon: Webhook },
  ]),
  ...inGroup('Dinheiro', [
    { to: '/uso', label: 'Uso', icon: ChartColumn, isOnPhoneBar: true },
    { to: '/recargas', label: 'Recargas', icon: Wallet, isOnPhoneBar: true },
    { to: '/alertas', label: 'Alertas', icon: Bell },
    { to: '/reembolsos', label: 'Reembolsos', icon: Undo2 },
    { to: '/indicacoes', label: 'Indicações', icon: Gift },
  ]),
  ...inGroup('Equipe', [{ to: '/equipes', label: 'Equipes', icon: Users }]),
  ...inGroup('Conta', [
    { to: '/perfil', label: 'Perfil', icon: UserRound },
    { to: '/seguranca', label: 'Segurança', icon: ShieldCheck },
    { to: '/notificacoes', label: 'Notificações', icon: Mail },
    { to: '/status', label: 'Status', icon: Activity },
  ]),
]

function inGroup(group: string, entries: readonly MenuEntry[]): readonly MenuEntry[] {
  return entries.map((entry) => ({ ...entry, group }))
}
