/** The operators' navigation under /admin, in order. Only finished pages are listed. */
import {
  Boxes,
  ChartColumnStacked,
  DollarSign,
  FileClock,
  Gauge,
  HandCoins,
  HeartPulse,
  Plug,
  Scale,
  Send,
  Siren,
  Undo2,
  Users,
} from 'lucide-react'
import type { Session } from '../api/session.ts'
import type { MenuEntry } from './menu.ts'
import { perLanguage } from '../language/per-language.ts'
import { t } from '../language/t.ts'

interface AdminEntry extends MenuEntry {
  /** The least role whose requests the page's API accepts. */
  readonly role: Role
}

type Role = NonNullable<Session['operator_role']>

const ADMIN_MENU = perLanguage((): readonly AdminEntry[] => [
  { to: '/admin', label: t('Visão geral'), icon: Gauge, role: 'support', isOnPhoneBar: true },
  { to: '/admin/clientes', label: t('Clientes'), icon: Users, role: 'support', isOnPhoneBar: true },
  {
    to: '/admin/ajustes',
    label: t('Ajustes', undefined, 'of balances'),
    icon: HandCoins,
    role: 'finance',
    isOnPhoneBar: true,
  },
  {
    to: '/admin/reembolsos',
    label: t('Reembolsos'),
    icon: Undo2,
    role: 'support',
    isOnPhoneBar: true,
  },
  { to: '/admin/conciliacao', label: t('Conciliação'), icon: Scale, role: 'finance' },
  { to: '/admin/auditoria', label: t('Auditoria'), icon: FileClock, role: 'admin' },
  { to: '/admin/margens', label: t('Margens'), icon: ChartColumnStacked, role: 'finance' },
  { to: '/admin/modelos', label: t('Modelos'), icon: Boxes, role: 'support' },
  { to: '/admin/provedores', label: t('Provedores'), icon: Plug, role: 'support' },
  { to: '/admin/cambio', label: t('Câmbio'), icon: DollarSign, role: 'support' },
  { to: '/admin/incidentes', label: t('Incidentes'), icon: Siren, role: 'support' },
  { to: '/admin/saude', label: t('Saúde'), icon: HeartPulse, role: 'support' },
  { to: '/admin/entregas', label: t('Entregas'), icon: Send, role: 'support' },
])

const HEIGHT: Readonly<Record<Role, number>> = { support: 0, finance: 1, admin: 2 }

export function adminMenuOf(role: Role | null): readonly MenuEntry[] {
  return role === null ? [] : ADMIN_MENU().filter((entry) => HEIGHT[entry.role] <= HEIGHT[role])
}
