/** Draws a page of visitors as text, at the build (`web/draw-stills.ts`). */
import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { renderToString } from 'react-dom/server'
import { PROVIDER_NAMES, providersQuery, type Provider } from './api/auth.ts'
import { queryClient } from './api/query-client.ts'
import { ToastProvider } from './components/Toast.tsx'
import { setLanguage, type Language } from './language/language.ts'
import { t } from './language/t.ts'
import { PublicLayout } from './layout/PublicLayout.tsx'
import { SignInPage } from './pages/sign-in/SignInPage.tsx'
import { SignUpPage } from './pages/sign-in/SignUpPage.tsx'

const root = createRootRoute()
const open = createRoute({ getParentRoute: () => root, id: 'open', component: PublicLayout })
const routeTree = root.addChildren([
  open.addChildren([
    createRoute({ getParentRoute: () => open, path: '/entrar', component: SignInPage }),
    createRoute({ getParentRoute: () => open, path: '/cadastrar', component: SignUpPage }),
  ]),
])

export const PROVIDERS = Object.keys(PROVIDER_NAMES)

export async function drawPage(
  page: 'entrar' | 'cadastrar',
  language: Language,
  providers: readonly Provider[],
): Promise<{ title: string; markup: string }> {
  await setLanguage(language)
  queryClient.setQueryData(providersQuery.queryKey, { providers })
  const history = createMemoryHistory({ initialEntries: [`/${page}`] })
  const router = createRouter({ routeTree, history, isServer: true })
  await router.load()
  const markup = renderToString(
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <ToastProvider>
          <RouterProvider router={router as never} />
        </ToastProvider>
      </QueryClientProvider>
    </I18nProvider>,
  )
  // Without the code a form would send its password in its address.
  return {
    title: page === 'entrar' ? t('Entrar') : t('Criar conta'),
    markup: markup.replaceAll('<button ', '<button disabled '),
  }
}
