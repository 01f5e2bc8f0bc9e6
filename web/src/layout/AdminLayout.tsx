import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { sessionQuery } from '../api/session.ts'
import { buttonClass } from '../components/button-class.ts'
import { EmptyState } from '../components/EmptyState.tsx'
import { PageTitle } from '../components/PageTitle.tsx'
import { adminMenuOf } from './admin-menu.ts'
import { AppLayout } from './AppLayout.tsx'
import { t } from '../language/t.ts'
import { useLanguage } from '../language/use-language.ts'

/** The layout of the operators' pages: the customers' frame with the navigation of the operator's role. */
export function AdminLayout() {
  useLanguage()
  const { data: session } = useQuery(sessionQuery)
  const menu = adminMenuOf(session?.operator_role ?? null)
  return session?.needs_second_factor === true ? (
    <AppLayout menu={[]} area={t('Operação')}>
      <SecondFactorNeeded />
    </AppLayout>
  ) : (
    <AppLayout menu={menu} area={t('Operação')} />
  )
}

function SecondFactorNeeded() {
  return (
    <>
      <PageTitle title={t('Operação')} />
      <EmptyState
        icon={<ShieldCheck />}
        title={t('Falta a verificação em duas etapas')}
        action={
          <Link to="/seguranca" className={buttonClass('primary')}>
            {t('Abrir a segurança da conta')}
          </Link>
        }
      >
        {t(
          'Só opera o serviço quem entrou com uma chave de acesso ou digitou um código nesta sessão. Ligue uma das duas. Se já ligou, saia e entre de novo.',
        )}
      </EmptyState>
    </>
  )
}
