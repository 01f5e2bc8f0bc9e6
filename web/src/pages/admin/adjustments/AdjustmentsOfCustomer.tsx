import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { AdjustmentList } from './AdjustmentList.tsx'
import { t } from '../../../language/t.ts'

export function AdjustmentsOfCustomer({ customerId }: { readonly customerId: string }) {
  return (
    <Card
      title={t('Ajustes', undefined, 'of balances')}
      description={t('Créditos e débitos à mão, também os que esperam aprovação.')}
    >
      <AdjustmentList
        of={{ customerId }}
        isWithCustomer={false}
        empty={
          <EmptyState title={t('Nenhum ajuste')}>
            {t('Nada foi creditado nem debitado à mão.')}
          </EmptyState>
        }
      />
    </Card>
  )
}
