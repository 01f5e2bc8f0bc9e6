import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { BookOpen, LogOut, ShieldCheck, UserRound } from 'lucide-react'
import { useState } from 'react'
import { signOut } from '../api/auth.ts'
import { api } from '../api/client.ts'
import { explainError } from '../api/explain-error.ts'
import type { Session } from '../api/session.ts'
import { useToast } from '../components/Toast.tsx'
import { takeLanguage } from '../language/chosen-language.ts'
import type { Language } from '../language/language.ts'
import { preferencesQuery } from '../pages/profile/profile-queries.ts'
import { LanguageSwitch } from './LanguageSwitch.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import { t } from '../language/t.ts'

const ROW =
  'flex min-h-11 w-full items-center gap-3 rounded-lg px-2 text-sm font-medium hover:bg-sunken md:min-h-10'

interface AccountPanelProps {
  readonly session: Session
  readonly isAdminArea: boolean
  readonly onFollow: () => void
}

export function AccountPanel({ session, isAdminArea, onFollow }: AccountPanelProps) {
  const [isLeaving, setIsLeaving] = useState(false)
  const navigate = useNavigate()
  const toast = useToast()
  const queries = useQueryClient()

  async function changeLanguage(chosen: Language): Promise<void> {
    try {
      const saved = await api.put('/me/preferences', { preferred_locale: chosen })
      queries.setQueryData(preferencesQuery.queryKey, saved)
      await takeLanguage(chosen)
    } catch (error) {
      toast(explainError(error), 'danger')
    }
  }

  async function leave(): Promise<void> {
    setIsLeaving(true)
    try {
      await signOut()
      onFollow()
      await navigate({ to: '/entrar' })
    } catch (error) {
      toast(explainError(error), 'danger')
      setIsLeaving(false)
    }
  }

  return (
    <>
      <div className="flex items-center justify-between gap-2 px-2 py-1">
        <span className="text-sm text-muted">{t('Tema')}</span>
        <ThemeSwitch />
      </div>
      <div className="flex items-center justify-between gap-2 px-2 py-1">
        <span className="text-sm text-muted">{t('Idioma')}</span>
        <LanguageSwitch onChoose={changeLanguage} />
      </div>
      {session.is_admin && (
        <Link to={isAdminArea ? '/' : '/admin'} onClick={onFollow} className={ROW}>
          {isAdminArea ? (
            <UserRound aria-hidden="true" className="size-4 text-muted" />
          ) : (
            <ShieldCheck aria-hidden="true" className="size-4 text-muted" />
          )}
          {isAdminArea ? t('Minha conta') : t('Operação')}
        </Link>
      )}
      <a href="/docs" className={ROW}>
        <BookOpen aria-hidden="true" className="size-4 text-muted" />
        {t('Documentação da API')}
      </a>
      <button type="button" aria-busy={isLeaving} onClick={() => void leave()} className={ROW}>
        <LogOut aria-hidden="true" className="size-4 text-muted" />
        {t('Sair')}
      </button>
    </>
  )
}
