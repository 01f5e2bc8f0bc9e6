import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { buttonClass } from '../../../components/button-class.ts'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { CopyIcon } from '../../../components/CopyIcon.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { dateTime } from '../../../format/date.ts'
import { AdjustmentDialog } from '../adjustments/AdjustmentDialog.tsx'
import { AdjustmentsOfCustomer } from '../adjustments/AdjustmentsOfCustomer.tsx'
import { BalanceParts } from './BalanceParts.tsx'
import { CustomerNotes } from './CustomerNotes.tsx'
import { customerQuery, type CustomerDetail } from './customer-queries.ts'
import { LastKeys } from './LastKeys.tsx'
import { LastTopUps } from './LastTopUps.tsx'
import { LastCalls, LastMails, LastRefusals } from './LastUse.tsx'
import { Registration } from './Registration.tsx'
import { SecondFactor } from './SecondFactor.tsx'
import { SuspensionDialog } from './SuspensionDialog.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function CustomerPage() {
  const { id } = useParams({ from: '/admin/clientes/$id' })
  const found = useQuery(customerQuery(id))
  return (
    <>
      <Link
        to="/admin/clientes"
        className="mb-3 inline-flex min-h-11 items-center gap-1.5 text-sm font-medium text-accent md:min-h-8"
      >
        <ArrowLeft aria-hidden="true" className="size-4" />
        {t('Clientes')}
      </Link>
      {found.data ? (
        <Found customer={found.data} />
      ) : (
        <>
          <PageTitle title={t('Cliente')} />
          {found.isPending && (
            <Card>
              <SkeletonRows rows={6} label={t('Carregando o cliente')} />
            </Card>
          )}
          {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
        </>
      )}
    </>
  )
}

function Found({ customer }: { readonly customer: CustomerDetail }) {
  const [open, setOpen] = useState<'adjust' | 'suspend'>()
  const close = (): void => setOpen(undefined)
  const isGone = customer.deleted_at !== null
  const isSuspended = customer.suspension !== null
  return (
    <>
      <PageTitle
        title={customer.name}
        description={customer.email ?? t('sem e-mail')}
        actions={
          !isGone && (
            <div className="flex flex-wrap gap-3">
              <Button variant="secondary" onClick={() => setOpen('suspend')}>
                {isSuspended ? t('Reativar conta') : t('Suspender conta')}
              </Button>
              <Button onClick={() => setOpen('adjust')}>{t('Novo ajuste')}</Button>
            </div>
          )
        }
      />
      <Facts customer={customer} />
      {customer.suspension && (
        <div className="mb-5">
          <Notice tone="warning">
            <Trans
              id="Conta suspensa desde {since}. Chamadas de modelos e recargas são recusadas. O cliente lê: “{suspensionReason}”"
              values={{
                since: dateTime(customer.suspension.since),
                suspensionReason: customer.suspension.reason,
              }}
            />
          </Notice>
        </div>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-2">
        <BalanceParts customer={customer} />
        <Registration customer={customer} />
        {!isGone && (
          <div className="lg:col-span-2">
            <SecondFactor customer={customer} />
          </div>
        )}
        {!isGone && (
          <div className="lg:col-span-2">
            <CustomerNotes customerId={customer.id} />
          </div>
        )}
        <div className="lg:col-span-2">
          <AdjustmentsOfCustomer customerId={customer.id} />
        </div>
        <div className="lg:col-span-2">
          <LastKeys keys={customer.last_keys} />
        </div>
        <div className="lg:col-span-2">
          <LastTopUps topUps={customer.last_topups} />
        </div>
        <div className="lg:col-span-2">
          <LastCalls customer={customer} />
        </div>
        <LastRefusals customer={customer} />
        <LastMails customer={customer} />
      </div>
      <AdjustmentDialog customer={customer} isOpen={open === 'adjust'} onClose={close} />
      <SuspensionDialog customer={customer} isOpen={open === 'suspend'} onClose={close} />
    </>
  )
}

function Facts({ customer }: { readonly customer: CustomerDetail }) {
  const { id, flags, deleted_at, suspension } = customer
  return (
    <div className="mb-5 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span className="inline-flex min-w-0 items-center gap-1">
        <code className="break-all">{id}</code>
        <CopyIcon text={id} label={t('Copiar o id do cliente')} />
      </span>
      {deleted_at !== null && (
        <Badge>
          <Trans id="conta excluída em {deletedAt}" values={{ deletedAt: dateTime(deleted_at) }} />
        </Badge>
      )}
      {suspension && <Badge tone="danger">{t('suspensa')}</Badge>}
      {flags.is_in_debt && <Badge tone="danger">{t('em débito')}</Badge>}
      {flags.are_keys_suspended && !flags.is_in_debt && (
        <Badge tone="warning">{t('sem saldo')}</Badge>
      )}
      {flags.is_admin && <Badge tone="accent">{t('operador')}</Badge>}
      <Link
        to="/admin/auditoria"
        search={{ cliente: id } as never}
        className={buttonClass('quiet', '-mx-4 sm:mx-0 sm:ml-auto')}
      >
        {t('Ver na auditoria')}
      </Link>
    </div>
  )
}
