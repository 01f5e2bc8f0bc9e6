import { ADMIN_MENU } from './admin-menu.ts'
import { AppLayout } from './AppLayout.tsx'

/** The layout of the operators' pages: the customers' frame with the operators' navigation. */
export function AdminLayout() {
  return <AppLayout menu={ADMIN_MENU} area="Operação" />
}
