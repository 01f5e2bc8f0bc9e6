import { Link } from '@tanstack/react-router'
import { buttonClass } from '../components/button-class.ts'
import { PageTitle } from '../components/PageTitle.tsx'
import { PublicFrame } from './PublicFrame.tsx'
import { t } from '../language/t.ts'
import { useLanguage } from '../language/use-language.ts'

export function NotFoundPage() {
  useLanguage()
  return (
    <PublicFrame>
      <PageTitle
        title={t('Página não encontrada')}
        description={t('O endereço não existe ou mudou. Confira se foi digitado por inteiro.')}
      />
      <Link to="/" className={buttonClass()}>
        {t('Ir para o início')}
      </Link>
    </PublicFrame>
  )
}
