import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { AdjustmentList } from './AdjustmentList.tsx'

export function AdjustmentsOfCustomer({ customerId }: { readonly customerId: string }) {
  return (
    <Card title="Ajustes" description="Créditos e débitos à mão, também os que esperam aprovação.">
      <AdjustmentList
        of={{ customerId }}
        isWithCustomer={false}
        empty={
          <EmptyState title="Nenhum ajuste">Nada foi creditado nem debitado à mão.</EmptyState>
        }
      />
    </Card>
  )
}
