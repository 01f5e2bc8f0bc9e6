/** The operators' navigation under /admin, in order. Only finished pages are listed. */
import {
  Boxes,
  ChartColumnStacked,
  DollarSign,
  FileClock,
  HandCoins,
  HeartPulse,
  Scale,
  Send,
  Siren,
  Undo2,
  Users,
} from 'lucide-react'
import type { Session } from '../api/session.ts'
import type { MenuEntry } from './menu.ts'

interface AdminEntry extends MenuEntry {
  /** The least role whose requests the page's API accepts. */
  readonly role: Role
}

type Role = NonNullable<Session['operator_role']>

const ADMIN_MENU: readonly AdminEntry[] = [
  { to: '/admin/clientes', label: 'Clientes', icon: Users, role: 'support', isOnPhoneBar: true },
  { to: '/admin/ajustes', label: 'Ajustes', icon: HandCoins, role: 'finance', isOnPhoneBar: true },
  {
    to: '/admin/reembolsos',
    label: 'Reembolsos',
    icon: Undo2,
    role: 'support',
    isOnPhoneBar: true,
  },
  { to: '/admin/conciliacao', label: 'Conciliação', icon: Scale, role: 'finance' },
  { to: '/admin/auditoria', label: 'Auditoria', icon: FileClock, role: 'admin' },
  { to: '/admin/margens', label: 'Margens', icon: ChartColumnStacked, role: 'finance' },
  { to: '/admin/modelos', label: 'Modelos', icon: Boxes, role: 'support' },
  { to: '/admin/cambio', label: 'Câmbio', icon: DollarSign, role: 'support' },
  { to: '/admin/incidentes', label: 'Incidentes', icon: Siren, role: 'support' },
  { to: '/admin/saude', label: 'Saúde', icon: HeartPulse, role: 'support' },
  { to: '/admin/entregas', label: 'Entregas', icon: Send, role: 'support' },
]

const HEIGHT: Readonly<Record<Role, number>> = { support: 0, finance: 1, admin: 2 }

export function adminMenuOf(role: Role | null): readonly MenuEntry[] {
  return role === null ? [] : ADMIN_MENU.filter((entry) => HEIGHT[entry.role] <= HEIGHT[role])
}
