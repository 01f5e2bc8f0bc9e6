import { Link } from '@tanstack/react-router'
import { HandCoins } from 'lucide-react'
import { buttonClass } from '../../../components/button-class.ts'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { StateSwitch } from '../StateSwitch.tsx'
import { AdjustmentList } from './AdjustmentList.tsx'
import type { AdjustmentStatus } from './adjustment-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const STATES = perLanguage(
  () =>
    ({
      esperando: t('Esperando aprovação'),
      lancados: t('Lançados'),
      recusados: t('Recusados'),
      todos: t('Todos'),
    }) as const,
)

type State = keyof ReturnType<typeof STATES>

const STATUS: Readonly<Record<State, { status?: AdjustmentStatus }>> = {
  esperando: { status: 'pending' },
  lancados: { status: 'posted' },
  recusados: { status: 'rejected' },
  todos: {},
}

export function AdjustmentsPage() {
  const [{ situacao }, setFilters] = useFilters('situacao')
  const state = Object.hasOwn(STATES(), situacao) ? (situacao as State) : 'esperando'
  return (
    <>
      <PageTitle
        title={t('Ajustes', undefined, 'of balances')}
        description={t('Créditos e débitos à mão. Os grandes precisam de dois operadores.')}
        actions={
          <Link to="/admin/clientes" className={buttonClass('secondary')}>
            {t('Escolher cliente para ajustar')}
          </Link>
        }
      />
      <StateSwitch
        legend={t('Quais ajustes')}
        states={STATES()}
        value={state}
        onChange={(next) => setFilters({ situacao: next === 'esperando' ? '' : next })}
      />
      <Card>
        <AdjustmentList
          key={state}
          of={STATUS[state]}
          isWithCustomer
          empty={
            <EmptyState
              icon={<HandCoins className="size-6" />}
              title={state === 'esperando' ? t('Nada espera aprovação') : t('Nenhum ajuste aqui')}
            >
              {t('Um ajuste novo se faz na página do cliente.')}
            </EmptyState>
          }
        />
      </Card>
    </>
  )
}
