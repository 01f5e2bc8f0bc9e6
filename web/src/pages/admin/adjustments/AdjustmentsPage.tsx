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

const STATES = {
  esperando: 'Esperando aprovação',
  lancados: 'Lançados',
  recusados: 'Recusados',
  todos: 'Todos',
} as const

type State = keyof typeof STATES

const STATUS: Readonly<Record<State, { status?: AdjustmentStatus }>> = {
  esperando: { status: 'pending' },
  lancados: { status: 'posted' },
  recusados: { status: 'rejected' },
  todos: {},
}

export function AdjustmentsPage() {
  const [{ situacao }, setFilters] = useFilters('situacao')
  const state = Object.hasOwn(STATES, situacao) ? (situacao as State) : 'esperando'
  return (
    <>
      <PageTitle
        title="Ajustes"
        description="Créditos e débitos à mão. Os grandes precisam de dois operadores."
        actions={
          <Link to="/admin/clientes" className={buttonClass('secondary')}>
            Escolher cliente para ajustar
          </Link>
        }
      />
      <StateSwitch
        legend="Quais ajustes"
        states={STATES}
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
              title={state === 'esperando' ? 'Nada espera aprovação' : 'Nenhum ajuste aqui'}
            >
              Um ajuste novo se faz na página do cliente.
            </EmptyState>
          }
        />
      </Card>
    </>
  )
}
