import { Link } from '@tanstack/react-router'
import { buttonClass } from '../components/button-class.ts'
import { PageTitle } from '../components/PageTitle.tsx'
import { PublicFrame } from './PublicFrame.tsx'

export function NotFoundPage() {
  return (
    <PublicFrame>
      <PageTitle
        title="Página não encontrada"
        description="O endereço não existe ou mudou. Confira se foi digitado por inteiro."
      />
      <Link to="/" className={buttonClass()}>
        Ir para o início
      </Link>
    </PublicFrame>
  )
}
