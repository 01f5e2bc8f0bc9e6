/** The layout of a signed-in customer's pages: navigation, the notice of sandbox mode, and the page. */
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { api } from '../api/client.ts'
import { cacheOwner } from '../api/cache-owner.ts'
import { sessionQuery, type Session } from '../api/session.ts'
import { setZone } from '../format/date.ts'
import { followAccount } from '../language/chosen-language.ts'
import { useLanguage } from '../language/use-language.ts'
import { AcceptTerms } from './AcceptTerms.tsx'
import { BalanceNotice } from './BalanceNotice.tsx'
import { CompanyFooter } from './CompanyFooter.tsx'
import { ConnectionNotice } from './ConnectionNotice.tsx'
import { IncidentNotice } from './IncidentNotice.tsx'
import { MENU, type MenuEntry } from './menu.ts'
import { PhoneBar } from './PhoneBar.tsx'
import { DataAgeNotice } from './DataAgeNotice.tsx'
import { SandboxNotice } from './SandboxNotice.tsx'
import { SideNavigation } from './SideNavigation.tsx'
import { SkipLink } from './SkipLink.tsx'
import { useFocusOnNavigation } from './use-focus-on-navigation.ts'
import { SignInAgain } from './SignInAgain.tsx'
import { SuspensionNotice } from './SuspensionNotice.tsx'
import { loadCommandMenu, useCommandKey } from './use-command-key.ts'
import { useLiveAccount } from './use-live-account.ts'
import { useLeaveWhenSignedOut } from './use-leave-when-signed-out.ts'

const CommandMenu = lazy(async () => ({ default: (await loadCommandMenu()).CommandMenu }))

const SUSPENDED_ASK_MS = 60_000

interface AppLayoutProps {
  readonly menu?: readonly MenuEntry[]
  /** The name of the area, unless it is the customer's own. */
  readonly area?: string
  /** In place of the page of the address. */
  readonly children?: ReactNode
}

export function AppLayout({ menu = MENU(), area, children = <Outlet /> }: AppLayoutProps) {
  useLanguage()
  const { data: found } = useQuery({
    ...sessionQuery,
    // So that the notice goes soon after the suspension.
    refetchInterval: ({ state }) => (state.data?.suspension ? SUSPENDED_ASK_MS : false),
  })
  const session = useLastSession(found)
  const { data: preferences } = useQuery({
    queryKey: ['preferences'],
    queryFn: () => api.get('/me/preferences'),
    enabled: Boolean(found),
    staleTime: 5 * 60_000,
  })
  const commands = useCommandKey()
  useFocusOnNavigation()
  useLeaveWhenSignedOut(found)
  useLiveAccount(found)
  useEffect(() => {
    if (!preferences) return
    setZone(preferences.timezone)
    void followAccount(preferences.preferred_locale).catch(() => {})
  }, [preferences])
  if (!session) return null

  return (
    // Another customer's pages begin anew.
    <div key={session.customer.id} className="md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <SkipLink />
      <SideNavigation session={session} menu={menu} area={area} onSearch={commands.open} />
      <div className="min-w-0">
        <ConnectionNotice />
        {session.mode === 'sandbox' && <SandboxNotice />}
        {session.suspension && <SuspensionNotice suspension={session.suspension} />}
        <IncidentNotice />
        {area === undefined && !session.suspension && <BalanceNotice />}
        <DataAgeNotice />
        <main
          id="conteudo"
          tabIndex={-1}
          // The footer is below the fold, so that it does not move while a page loads.
          className="mx-auto min-h-dvh max-w-6xl px-4 pt-6 pb-12 md:px-8 md:pt-10"
        >
          {session.must_accept_terms ? <AcceptTerms /> : children}
        </main>
        {/* Above the bar of a phone. */}
        <div className="pb-20 md:pb-4">
          <CompanyFooter />
        </div>
      </div>
      <PhoneBar session={session} menu={menu} area={area} />
      {/* Not within the navigation: on a narrow screen that is not shown, and nothing in it would be. */}
      {commands.wasOpened && (
        <Suspense>
          <CommandMenu menu={menu} isOpen={commands.isOpen} onClose={commands.close} />
        </Suspense>
      )}
      {found === null && <SignInAgain session={session} />}
    </div>
  )
}

/** The session, or the one that has just ended: the page stays until the user has signed in again, or out. */
function useLastSession(found: Session | null | undefined): Session | undefined {
  const [last, setLast] = useState(found ?? undefined)
  if (found && found !== last) setLast(found)
  return found ?? (cacheOwner() === undefined ? undefined : last)
}
