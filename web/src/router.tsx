/**
 * The pages and their URLs. The code of each page is loaded when it is first opened. To add a page: a
 * `createRoute` here, its name in `routeTree`, and a line in layout/menu.ts; operators' pages go in
 * admin-routes.tsx and layout/admin-menu.ts.
 */
import { createRoute, createRouter, redirect, stringifySearchWith } from '@tanstack/react-router'
import { adminRoutes } from './admin-routes.tsx'
import { providersQuery } from './api/auth.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { AppLayout } from './layout/AppLayout.tsx'
import { ColdError, ColdSkeleton } from './layout/ColdFrame.tsx'
import { EitherLayout } from './layout/EitherLayout.tsx'
import { PageError } from './layout/PageError.tsx'
import { PageSkeleton } from './layout/PageSkeleton.tsx'
import { PublicLayout } from './layout/PublicLayout.tsx'
import {
  loadPreferences,
  prefetchHome,
  prefetchKeys,
  prefetchModel,
  prefetchModels,
  prefetchTopUps,
  prefetchUsage,
} from './prefetch.ts'
import { pageComponent } from './language/page-component.tsx'
import { root } from './root-route.ts'
import { sessionOrSignIn } from './session-or-sign-in.ts'

/** Public pages. */
const open = createRoute({ getParentRoute: () => root, id: 'open', component: PublicLayout })

/** Public pages, with the navigation when signed in. */
const either = createRoute({ getParentRoute: () => root, id: 'either', component: EitherLayout })

/** Pages of a signed-in customer; others are sent to the sign-in page and back. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppLayout,
  pendingComponent: ColdSkeleton,
  pendingMs: 0,
  errorComponent: ColdError,
  beforeLoad: async ({ location }) => void (await sessionOrSignIn(location)),
  loader: loadPreferences,
})

const signIn = createRoute({
  getParentRoute: () => open,
  path: '/entrar',
  validateSearch: wayBack,
  beforeLoad: leaveWhenSignedIn,
  component: pageComponent(() => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})
const signInCode = createRoute({
  getParentRoute: () => open,
  path: '/entrar/codigo',
  validateSearch: wayBack,
  beforeLoad: leaveWhenSignedIn,
  component: pageComponent(() => import('./pages/sign-in/CodePage.tsx'), 'CodePage'),
})
const signUp = createRoute({
  getParentRoute: () => open,
  path: '/cadastrar',
  beforeLoad: leaveWhenSignedIn,
  component: pageComponent(() => import('./pages/sign-in/SignUpPage.tsx'), 'SignUpPage'),
})
const confirmed = createRoute({
  getParentRoute: () => open,
  path: '/confirmado',
  component: pageComponent(() => import('./pages/sign-in/ConfirmedPage.tsx'), 'ConfirmedPage'),
})
const status = createRoute({
  getParentRoute: () => either,
  path: '/status',
  component: pageComponent(() => import('./pages/status/StatusPage.tsx'), 'StatusPage'),
})

const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  loader: prefetchHome,
  component: pageComponent(() => import('./pages/home/HomePage.tsx'), 'HomePage'),
})

const models = createRoute({
  getParentRoute: () => either,
  // With the slash, it is the index that the pages of models do not match.
  path: '/modelos/',
  loader: prefetchModels,
  component: pageComponent(() => import('./pages/models/ModelsPage.tsx'), 'ModelsPage'),
})
/** An id may have slashes. */
const model = createRoute({
  getParentRoute: () => either,
  path: '/modelos/$',
  loader: ({ params: { _splat: id = '' } }) => prefetchModel(id),
  component: pageComponent(() => import('./pages/models/ModelPage.tsx'), 'ModelPage'),
})
const usage = createRoute({
  getParentRoute: () => app,
  path: '/uso',
  loader: ({ location }) => prefetchUsage(location.search),
  component: pageComponent(() => import('./pages/usage/UsagePage.tsx'), 'UsagePage'),
})
const playground = createRoute({
  getParentRoute: () => app,
  path: '/playground',
  component: pageComponent(() => import('./pages/playground/PlaygroundPage.tsx'), 'PlaygroundPage'),
})
const sessions = createRoute({
  getParentRoute: () => app,
  path: '/sessoes',
  component: pageComponent(() => import('./pages/sessions/SessionsPage.tsx'), 'SessionsPage'),
})
const session = createRoute({
  getParentRoute: () => app,
  path: '/sessoes/$id',
  component: pageComponent(() => import('./pages/sessions/SessionPage.tsx'), 'SessionPage'),
})
const prompts = createRoute({
  getParentRoute: () => app,
  path: '/prompts',
  component: pageComponent(() => import('./pages/prompts/PromptsPage.tsx'), 'PromptsPage'),
})
const newPrompt = createRoute({
  getParentRoute: () => app,
  path: '/prompts/novo',
  validateSearch: ({ exemplo }: Record<string, unknown>): { exemplo?: true } =>
    String(exemplo) === 'true' ? { exemplo: true } : {},
  component: pageComponent(() => import('./pages/prompts/NewPromptPage.tsx'), 'NewPromptPage'),
})
const prompt = createRoute({
  getParentRoute: () => app,
  path: '/prompts/$id',
  component: pageComponent(() => import('./pages/prompts/PromptPage.tsx'), 'PromptPage'),
})
const security = createRoute({
  getParentRoute: () => app,
  path: '/seguranca',
  component: pageComponent(() => import('./pages/security/SecurityPage.tsx'), 'SecurityPage'),
})
const profile = createRoute({
  getParentRoute: () => app,
  path: '/perfil',
  component: pageComponent(() => import('./pages/profile/ProfilePage.tsx'), 'ProfilePage'),
})
const topUps = createRoute({
  getParentRoute: () => app,
  path: '/recargas',
  loader: prefetchTopUps,
  component: pageComponent(() => import('./pages/top-ups/TopUpsPage.tsx'), 'TopUpsPage'),
})
const statement = createRoute({
  getParentRoute: () => app,
  path: '/recargas/extrato',
  component: pageComponent(() => import('./pages/top-ups/StatementPage.tsx'), 'StatementPage'),
})
const refunds = createRoute({
  getParentRoute: () => app,
  path: '/reembolsos',
  component: pageComponent(() => import('./pages/refunds/RefundsPage.tsx'), 'RefundsPage'),
})
const keys = createRoute({
  getParentRoute: () => app,
  path: '/chaves',
  loader: ({ location }) => prefetchKeys(location.search),
  component: pageComponent(() => import('./pages/keys/KeysPage.tsx'), 'KeysPage'),
})
const alerts = createRoute({
  getParentRoute: () => app,
  path: '/alertas',
  component: pageComponent(() => import('./pages/alerts/AlertsPage.tsx'), 'AlertsPage'),
})
const notifications = createRoute({
  getParentRoute: () => app,
  path: '/notificacoes',
  component: pageComponent(
    () => import('./pages/notifications/NotificationsPage.tsx'),
    'NotificationsPage',
  ),
})
const referrals = createRoute({
  getParentRoute: () => app,
  path: '/indicacoes',
  component: pageComponent(() => import('./pages/referrals/ReferralsPage.tsx'), 'ReferralsPage'),
})
const teams = createRoute({
  getParentRoute: () => app,
  path: '/equipes',
  component: pageComponent(() => import('./pages/teams/TeamsPage.tsx'), 'TeamsPage'),
})
const team = createRoute({
  getParentRoute: () => app,
  path: '/equipes/$id',
  component: pageComponent(() => import('./pages/teams/TeamPage.tsx'), 'TeamPage'),
})
const webhooks = createRoute({
  getParentRoute: () => app,
  path: '/webhooks',
  component: pageComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
})
const webhook = createRoute({
  getParentRoute: () => app,
  path: '/webhooks/$id',
  component: pageComponent(() => import('./pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
})
const usageDestinations = createRoute({
  getParentRoute: () => app,
  path: '/destinos-de-uso',
  component: pageComponent(
    () => import('./pages/usage-destinations/UsageDestinationsPage.tsx'),
    'UsageDestinationsPage',
  ),
})

const routeTree = root.addChildren([
  open.addChildren([signIn, signInCode, signUp, confirmed]),
  either.addChildren([status, models, model]),
  app.addChildren([
    home,
    usage,
    playground,
    sessions,
    session,
    prompts,
    newPrompt,
    prompt,
    alerts,
    webhooks,
    webhook,
    usageDestinations,
    notifications,
    teams,
    team,
    referrals,
    security,
    profile,
    topUps,
    statement,
    refunds,
    keys,
  ]),
  adminRoutes,
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
  // Text stays text: a CPF is no number, and `true` no truth. The router's own `parseSearchWith` reads both as such,
  // whatever its parser does.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: stringifySearchWith(String),
})

/** Accepts only paths of this site: a URL of another site would be an open redirect. */
function wayBack({ voltar, conta, erro }: Record<string, unknown>): {
  voltar?: string
  erro?: string
  conta?: 'excluida'
} {
  return {
    ...(typeof voltar === 'string' && /^\/(?![/\\])/.test(voltar) ? { voltar } : {}),
    ...(conta === 'excluida' ? { conta } : {}),
    ...(typeof erro === 'string' ? { erro } : {}),
  }
}

async function leaveWhenSignedIn(): Promise<void> {
  // With the buttons of other services, so that none appears later.
  const [session] = await Promise.all([
    queryClient.ensureQueryData(sessionQuery),
    queryClient.prefetchQuery(providersQuery),
  ])
  if (session) throw redirect({ to: '/', replace: true })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
