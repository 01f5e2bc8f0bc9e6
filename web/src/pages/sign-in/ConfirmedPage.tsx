import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/button-class.ts'
import { SignInCard } from './SignInCard.tsx'
import { t } from '../../language/t.ts'

/** The target of the confirmation link: the address is confirmed and the user signed in. */
export function ConfirmedPage() {
  return (
    <SignInCard
      title={t('E-mail confirmado')}
      description={t(
        'Sua conta está pronta. Em poucos passos você faz a primeira chamada a um modelo.',
      )}
    >
      <Link to="/" className={buttonClass('primary', 'w-full')}>
        {t('Começar')}
      </Link>
    </SignInCard>
  )
}
