import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/button-class.ts'
import { SignInCard } from './SignInCard.tsx'

/** Where the link of the first mail ends: the address is confirmed, and its owner signed in. */
export function ConfirmedPage() {
  return (
    <SignInCard
      title="E-mail confirmado"
      description="Sua conta está pronta. Em quatro passos você faz a primeira chamada a um modelo."
    >
      <Link to="/" className={buttonClass('primary', 'w-full')}>
        Começar
      </Link>
    </SignInCard>
  )
}
