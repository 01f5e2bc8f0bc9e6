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
import type { MenuEntry } from './menu.ts'

export const ADMIN_MENU: readonly MenuEntry[] = [
  { to: '/admin/clientes', label: 'Clientes', icon: Users, isOnPhoneBar: true },
  { to: '/admin/ajustes', label: 'Ajustes', icon: HandCoins, isOnPhoneBar: true },
  { to: '/admin/reembolsos', label: 'Reembolsos', icon: Undo2, isOnPhoneBar: true },
  { to: '/admin/conciliacao', label: 'Conciliação', icon: Scale },
  { to: '/admin/auditoria', label: 'Auditoria', icon: FileClock },
  { to: '/admin/margens', label: 'Margens', icon: ChartColumnStacked },
  { to: '/admin/modelos', label: 'Modelos', icon: Boxes },
  { to: '/admin/cambio', label: 'Câmbio', icon: DollarSign },
  { to: '/admin/incidentes', label: 'Incidentes', icon: Siren },
  { to: '/admin/saude', label: 'Saúde', icon: HeartPulse },
  { to: '/admin/entregas', label: 'Entregas', icon: Send },
]
