import type { ReactNode } from 'react'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import type { CustomerDetail } from './customer-queries.ts'
import { keysText } from './customer-words.ts'
import { t } from '../../../language/t.ts'

/** The customer's profile and account data. */
export function Registration({ customer }: { readonly customer: CustomerDetail }) {
  const { profile, created_at, timezone, keys } = customer
  const place = [profile?.city, profile?.state].filter(Boolean).join(', ')
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t('Nome no cadastro'), profile?.full_name ?? t('perfil não preenchido')],
    [profile?.kind === 'cnpj' ? 'CNPJ' : 'CPF', profile?.cpf_cnpj ?? t('não informado')],
    [t('Cidade'), place === '' ? t('não informada') : place],
    [t('Fuso horário'), timezone],
    [t('Cliente desde'), <DateTime key="since" instant={created_at} />],
    [t('Chaves'), keysText(keys)],
  ]
  return (
    <Card title={t('Cadastro')}>
      <dl className="divide-y divide-line text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-4 py-2">
            <dt className="shrink-0 text-muted">{name}</dt>
            <dd className="min-w-0 text-right font-medium break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
