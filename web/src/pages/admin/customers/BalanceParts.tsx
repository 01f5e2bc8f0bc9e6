import { Card } from '../../../components/Card.tsx'
import { Money } from '../../../components/Money.tsx'
import type { CustomerDetail } from './customer-queries.ts'
import { t } from '../../../language/t.ts'

/** The balance and its components. */
export function BalanceParts({ customer: { balance } }: { readonly customer: CustomerDetail }) {
  const parts = [
    [t('Entradas'), balance.credited_brl],
    [t('Outras saídas'), balance.debited_brl],
    [t('Cobrado por uso'), balance.charged_brl],
    [t('Saldo'), balance.balance_brl],
    [t('Reservado por chamadas em andamento'), balance.held_brl],
    [t('Do saldo, promocional'), balance.promotional_brl],
  ] as const
  return (
    <Card title={t('Saldo')}>
      <p className="text-sm text-muted">{t('Livre para gastar')}</p>
      <p className="mb-4 text-3xl font-semibold tracking-tight">
        <Money
          amount={balance.available_brl}
          className={balance.available_brl < 0 ? 'text-danger' : ''}
        />
      </p>
      <dl className="divide-y divide-line text-sm">
        {parts.map(([name, amount]) => (
          <div key={name} className="flex justify-between gap-4 py-2">
            <dt className="text-muted">{name}</dt>
            <dd className="font-medium">
              <Money amount={amount} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
