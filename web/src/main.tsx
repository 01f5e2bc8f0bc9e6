import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { providersQuery, type Provider } from './api/auth.ts'
import { queryClient } from './api/query-client.ts'
import { followTabs } from './api/session.ts'
import { ToastProvider } from './components/Toast.tsx'
import { startLanguage } from './language/chosen-language.ts'
import { language } from './language/language.ts'
import { deleteHistoryDatabase } from './lib/history-database.ts'
import { keepTyped } from './lib/keep-typed.ts'
import { keepReferralCode } from './lib/referral-code.ts'
import { onSignOut } from './lib/sign-out-acts.ts'
import { router } from './router.tsx'
import './style.css'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

keepReferralCode(window.location.search)
// Here, because its page may not have been opened since the browser was started.
onSignOut(deleteHistoryDatabase)
followTabs(() => void router.invalidate())

function nameLanguage(): void {
  document.documentElement.lang = language() === 'en-US' ? 'en' : language()
}
i18n.on('change', nameLanguage)
await startLanguage()
// A drawn page may have been in the other one.
nameLanguage()

const still = root.dataset.still
if (still !== undefined) {
  // The buttons of the drawn page are not asked for again, and so never go away.
  const providers = still.split(' ').filter((name): name is Provider => name !== '')
  queryClient.setQueryData(providersQuery.queryKey, { providers })
  // The drawn page stays until the page that takes its place is ready.
  await router.load()
}
const typeAgain = keepTyped(root)
root.removeAttribute('data-still')

const page = (
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>
)
flushSync(() => createRoot(root).render(page))
typeAgain()
