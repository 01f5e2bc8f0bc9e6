/** The customers' navigation, in order and in groups. Only finished pages are listed. */
import type { LinkProps } from '@tanstack/react-router'
import {
  Activity,
  Bell,
  Boxes,
  ChartColumn,
  ChartNoAxesGantt,
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
import { perLanguage } from '../language/per-language.ts'
import { t } from '../language/t.ts'

export interface MenuEntry {
  readonly to: NonNullable<LinkProps['to']>
  readonly label: string
  readonly icon: LucideIcon
  /** Undefined above all groups. */
  readonly group?: string
  /** One of the four entries that fit in the bar at the bottom of a phone. */
  readonly isOnPhoneBar?: boolean
}

export const MENU = perLanguage((): readonly MenuEntry[] => [
  { to: '/', label: t('Início'), icon: House, isOnPhoneBar: true },
  ...inGroup(t('Construir'), [
    { to: '/playground', label: t('Playground'), icon: MessagesSquare },
    { to: '/chaves', label: t('Chaves'), icon: KeyRound, isOnPhoneBar: true },
    { to: '/modelos', label: t('Modelos'), icon: Boxes },
    { to: '/prompts', label: t('Prompts'), icon: FileText },
    { to: '/sessoes', label: t('Sessões'), icon: Route },
    { to: '/webhooks', label: t('Webhooks'), icon: Webhook },
    { to: '/destinos-de-uso', label: t('Destinos de uso'), icon: ChartNoAxesGantt },
  ]),
  ...inGroup(t('Dinheiro'), [
    { to: '/uso', label: t('Uso'), icon: ChartColumn, isOnPhoneBar: true },
    { to: '/recargas', label: t('Recargas'), icon: Wallet, isOnPhoneBar: true },
    { to: '/alertas', label: t('Alertas'), icon: Bell },
    { to: '/reembolsos', label: t('Reembolsos'), icon: Undo2 },
    { to: '/indicacoes', label: t('Indicações'), icon: Gift },
  ]),
  ...inGroup(t('Equipe'), [{ to: '/equipes', label: t('Equipes'), icon: Users }]),
  ...inGroup(t('Conta'), [
    { to: '/perfil', label: t('Perfil'), icon: UserRound },
    { to: '/seguranca', label: t('Segurança'), icon: ShieldCheck },
    { to: '/notificacoes', label: t('Notificações'), icon: Mail },
    { to: '/status', label: t('Status'), icon: Activity },
  ]),
])

function inGroup(group: string, entries: readonly MenuEntry[]): readonly MenuEntry[] {
  return entries.map((entry) => ({ ...entry, group }))
}
