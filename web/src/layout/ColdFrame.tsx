/** The frame of a signed-in customer's pages before it is known who that is, or when it cannot be read. */
import type { ReactNode } from 'react'
import { Skeleton } from '../components/Skeleton.tsx'
import { Logo } from './Logo.tsx'
import { PageError } from './PageError.tsx'
import { PageSkeleton } from './PageSkeleton.tsx'
import { t } from '../language/t.ts'

const ENTRIES = 8

export function ColdSkeleton() {
  return (
    <ColdFrame>
      <PageSkeleton />
    </ColdFrame>
  )
}

export function ColdError({ error }: { readonly error: unknown }) {
  return (
    <ColdFrame>
      <PageError error={error} />
    </ColdFrame>
  )
}

/** Nothing moves when the real one takes its place. */
function ColdFrame({ children }: { readonly children: ReactNode }) {
  return (
    <div className="md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <header className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-surface md:flex">
        {/* A whole new load: what has failed may have failed in this one. */}
        <a href="/" className="m-3 rounded-lg px-2 py-2" aria-label={t('Catraca: início')}>
          <Logo />
        </a>
        <div aria-hidden="true" className="grid content-start gap-3 px-6 py-4">
          {Array.from({ length: ENTRIES }, (_, entry) => (
            <Skeleton key={entry} className="h-6" />
          ))}
        </div>
      </header>
      <main
        id="conteudo"
        className="mx-auto w-full max-w-6xl min-w-0 px-4 pt-6 pb-12 md:px-8 md:pt-10"
      >
        <p className="mb-6 md:hidden">
          <Logo />
        </p>
        {children}
      </main>
    </div>
  )
}
