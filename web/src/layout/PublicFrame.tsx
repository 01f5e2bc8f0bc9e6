import type { ReactNode } from 'react'
import { CompanyFooter } from './CompanyFooter.tsx'
import { LanguageSwitch } from './LanguageSwitch.tsx'
import { Logo } from './Logo.tsx'
import { SkipLink } from './SkipLink.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import { useLanguage } from '../language/use-language.ts'
import { useFocusOnNavigation } from './use-focus-on-navigation.ts'
import { t } from '../language/t.ts'

export function PublicFrame({ children }: { children: ReactNode }) {
  useLanguage()
  useFocusOnNavigation()
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="mx-auto flex w-full max-w-5xl flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-4">
        {/* Not a page of the dashboard: the server has one for visitors there. */}
        <a href="/" aria-label={t('Catraca: início')} className="rounded-lg py-2">
          <Logo />
        </a>
        <div className="flex items-center gap-2">
          <LanguageSwitch />
          <ThemeSwitch />
        </div>
      </header>
      <main id="conteudo" tabIndex={-1} className="mx-auto w-full max-w-5xl flex-1 px-4 py-6">
        {children}
      </main>
      <CompanyFooter isNarrow />
    </div>
  )
}
