/**
 * The pages and their addresses. The code of each is loaded when it is first opened: a page joins with a
 * `createRoute` here, its name in `routeTree`, and a line in layout/menu.ts.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { AppLayout } from './layout/AppLayout.tsx'
import { EitherLayout } from './layout/EitherLayout.tsx'
import { NotFoundPage } from './layout/NotFoundPage.tsx'
import { PageError } from './layout/PageError.tsx'
import { PageSkeleton } from './layout/PageSkeleton.tsx'
import { PublicLayout } from './layout/PublicLayout.tsx'

const root = createRootRoute({ notFoundComponent: NotFoundPage })

/** Pages that anybody may see. */
const open = createRoute({ getParentRoute: () => root, id: 'open', component: PublicLayout })

/** Pages that anybody may see, with the navigation of whoever is signed in. */
const either = createRoute({ getParentRoute: () => root, id: 'either', component: EitherLayout })

/** Pages of a signed-in customer; others are led to the sign-in and back. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppLayout,
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery)
    if (session) return
    const { href } = location
    throw redirect({ to: '/entrar', search: href === '/' ? {} : { voltar: href }, replace: true })
  },
})

const signIn = createRoute({
  getParentRoute: () => open,
  path: '/entrar',
  // Only to a place of our own: an address of another site here would be a trap.
  validateSearch: ({ voltar }: Record<string, unknown>): { voltar?: string } =>
    typeof voltar === 'string' && /^\/(?![/\\])/.test(voltar) ? { voltar } : {},
  beforeLoad: leaveWhenSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => open,
  path: '/cadastrar',
  beforeLoad: leaveWhenSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/SignUpPage.tsx'), 'SignUpPage'),
})
const confirmed = createRoute({
  getParentRoute: () => open,
  path: '/confirmado',
  component: lazyRouteComponent(() => import('./pages/sign-in/ConfirmedPage.tsx'), 'ConfirmedPage'),
})
const status = createRoute({
  getParentRoute: () => either,
  path: '/status',
  component: lazyRouteComponent(() => import('./pages/status/StatusPage.tsx'), 'StatusPage'),
})

const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/HomePage.tsx'), 'HomePage'),
})

const models = createRoute({
  getParentRoute: () => either,
  path: '/modelos',
  component: lazyRouteComponent(() => import('./pages/models/ModelsPage.tsx'), 'ModelsPage'),
})
const usage = createRoute({
  getParentRoute: () => app,
  path: '/uso',
  component: lazyRouteComponent(() => import('./pages/usage/UsagePage.tsx'), 'UsagePage'),
})
const sessions = createRoute({
  getParentRoute: () => app,
  path: '/sessoes',
  component: lazyRouteComponent(() => import('./pages/sessions/SessionsPage.tsx'), 'SessionsPage'),
})
const session = createRoute({
  getParentRoute: () => app,
  path: '/sessoes/$id',
  component: lazyRouteComponent(() => import('./pages/sessions/SessionPage.tsx'), 'SessionPage'),
})
const profile = createRoute({
  getParentRoute: () => app,
  path: '/perfil',
  component: lazyRouteComponent(() => import('./pages/profile/ProfilePage.tsx'), 'ProfilePage'),
})
const topUps = createRoute({
  getParentRoute: () => app,
  path: '/recargas',
  component: lazyRouteComponent(() => import('./pages/top-ups/TopUpsPage.tsx'), 'TopUpsPage'),
})
const refunds = createRoute({
  getParentRoute: () => app,
  path: '/reembolsos',
  component: lazyRouteComponent(() => import('./pages/refunds/RefundsPage.tsx'), 'RefundsPage'),
})
const keys = createRoute({
  getParentRoute: () => app,
  path: '/chaves',
  component: lazyRouteComponent(() => import('./pages/keys/KeysPage.tsx'), 'KeysPage'),
})
const alerts = createRoute({
  getParentRoute: () => app,
  path: '/alertas',
  component: lazyRouteComponent(() => import('./pages/alerts/AlertsPage.tsx'), 'AlertsPage'),
})
const notifications = createRoute({
  getParentRoute: () => app,
  path: '/notificacoes',
  component: lazyRouteComponent(
    () => import('./pages/notifications/NotificationsPage.tsx'),
    'NotificationsPage',
  ),
})
const referrals = createRoute({
  getParentRoute: () => app,
  path: '/indicacoes',
  component: lazyRouteComponent(
    () => import('./pages/referrals/ReferralsPage.tsx'),
    'ReferralsPage',
  ),
})
const webhooks = createRoute({
  getParentRoute: () => app,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
})
const webhook = createRoute({
  getParentRoute: () => app,
  path: '/webhooks/$id',
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
})

const routeTree = root.addChildren([
  open.addChildren([signIn, signUp, confirmed]),
  either.addChildren([status, models]),
  app.addChildren([
    home,
    usage,
    sessions,
    session,
    alerts,
    webhooks,
    webhook,
    notifications,
    referrals,
    profile,
    topUps,
    refunds,
    keys,
  ]),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
})

async function leaveWhenSignedIn(): Promise<void> {
  const session = await queryClient.ensureQueryData(sessionQuery)
  if (session) throw redirect({ to: '/', replace: true })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
