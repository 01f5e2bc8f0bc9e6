import type { ReactNode } from 'react'
import { PageTitle } from '../../components/PageTitle.tsx'

interface SignInCardProps {
  title: string
  description?: ReactNode
  /** Below the card: the link to the other page. */
  below?: ReactNode
  children?: ReactNode
}

export function SignInCard({ title, description, below, children }: SignInCardProps) {
  return (
    <div className="mx-auto max-w-md md:pt-8">
      <div className="rounded-2xl border border-line bg-surface p-6 shadow-card sm:p-8">
        <PageTitle title={title} description={description} />
        {children}
      </div>
      {below !== undefined && <p className="mt-6 text-center text-sm text-muted">{below}</p>}
    </div>
  )
}
