import { ADMIN_MENU } from './admin-menu.ts'
import { AppLayout } from './AppLayout.tsx'

/** Around every page of operators: the frame of customers with a navigation of its own. */
export function AdminLayout() {
  return <AppLayout menu={ADMIN_MENU} area="Operação" />
}
