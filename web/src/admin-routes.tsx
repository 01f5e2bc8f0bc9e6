/** The operators' pages, all under /admin; see router.tsx. */
import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { ColdError, ColdSkeleton } from './layout/ColdFrame.tsx'
import { pageComponent } from './language/page-component.tsx'
import { loadPreferences } from './prefetch.ts'
import { root } from './root-route.ts'
import { sessionOrSignIn } from './session-or-sign-in.ts'

/** Other users get "not found", and the server refuses their requests in any case. */
const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: lazyRouteComponent(() => import('./layout/AdminLayout.tsx'), 'AdminLayout'),
  pendingComponent: ColdSkeleton,
  pendingMs: 0,
  errorComponent: ColdError,
  loader: loadPreferences,
  beforeLoad: async ({ location }) => {
    const session = await sessionOrSignIn(location)
    if (!session.is_admin) throw notFound()
    // The second factor may have been turned on since the session was read.
    if (session.needs_second_factor) await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  },
})

const adminStart = createRoute({
  getParentRoute: () => admin,
  path: '/',
  component: pageComponent(() => import('./pages/admin/overview/OverviewPage.tsx'), 'OverviewPage'),
})
const adminCustomers = createRoute({
  getParentRoute: () => admin,
  path: '/clientes',
  component: pageComponent(
    () => import('./pages/admin/customers/CustomersPage.tsx'),
    'CustomersPage',
  ),
})
const adminCustomer = createRoute({
  getParentRoute: () => admin,
  path: '/clientes/$id',
  component: pageComponent(
    () => import('./pages/admin/customers/CustomerPage.tsx'),
    'CustomerPage',
  ),
})
const adminAdjustments = createRoute({
  getParentRoute: () => admin,
  path: '/ajustes',
  component: pageComponent(
    () => import('./pages/admin/adjustments/AdjustmentsPage.tsx'),
    'AdjustmentsPage',
  ),
})
const adminRefunds = createRoute({
  getParentRoute: () => admin,
  path: '/reembolsos',
  component: pageComponent(
    () => import('./pages/admin/refunds/AdminRefundsPage.tsx'),
    'AdminRefundsPage',
  ),
})
const adminReconciliation = createRoute({
  getParentRoute: () => admin,
  path: '/conciliacao',
  component: pageComponent(
    () => import('./pages/admin/reconciliation/ReconciliationPage.tsx'),
    'ReconciliationPage',
  ),
})
const adminAuditLog = createRoute({
  getParentRoute: () => admin,
  path: '/auditoria',
  component: pageComponent(
    () => import('./pages/admin/audit-log/AuditLogPage.tsx'),
    'AuditLogPage',
  ),
})
const adminMargins = createRoute({
  getParentRoute: () => admin,
  path: '/margens',
  component: pageComponent(() => import('./pages/admin/margins/MarginsPage.tsx'), 'MarginsPage'),
})
const adminModels = createRoute({
  getParentRoute: () => admin,
  path: '/modelos',
  component: pageComponent(
    () => import('./pages/admin/models/AdminModelsPage.tsx'),
    'AdminModelsPage',
  ),
})
const adminUpstreams = createRoute({
  getParentRoute: () => admin,
  path: '/provedores',
  component: pageComponent(
    () => import('./pages/admin/upstreams/AdminUpstreamsPage.tsx'),
    'AdminUpstreamsPage',
  ),
})
const adminFx = createRoute({
  getParentRoute: () => admin,
  path: '/cambio',
  component: pageComponent(() => import('./pages/admin/fx/AdminFxPage.tsx'), 'AdminFxPage'),
})
const adminIncidents = createRoute({
  getParentRoute: () => admin,
  path: '/incidentes',
  component: pageComponent(
    () => import('./pages/admin/incidents/AdminIncidentsPage.tsx'),
    'AdminIncidentsPage',
  ),
})
const adminHealth = createRoute({
  getParentRoute: () => admin,
  path: '/saude',
  component: pageComponent(() => import('./pages/admin/health/HealthPage.tsx'), 'HealthPage'),
})
const adminDeliveries = createRoute({
  getParentRoute: () => admin,
  path: '/entregas',
  component: pageComponent(
    () => import('./pages/admin/deliveries/DeliveriesPage.tsx'),
    'DeliveriesPage',
  ),
})

export const adminRoutes = admin.addChildren([
  adminStart,
  adminCustomers,
  adminCustomer,
  adminAdjustments,
  adminRefunds,
  adminReconciliation,
  adminAuditLog,
  adminMargins,
  adminModels,
  adminUpstreams,
  adminFx,
  adminIncidents,
  adminHealth,
  adminDeliveries,
])
