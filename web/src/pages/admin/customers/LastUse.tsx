/** A customer's newest calls, the reasons for which calls were refused, and the newest mails. */
import { Link } from '@tanstack/react-router'
import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Money } from '../../../components/Money.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { wholeNumber } from '../../../format/number.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { notificationWords } from '../../notifications/notification-words.ts'
import { REFUSAL_WORDS } from '../../usage/refusal-words.ts'
import type { CustomerDetail } from './customer-queries.ts'

type Call = CustomerDetail['last_calls'][number]
type Refusals = CustomerDetail['refusals'][number]
type Mail = CustomerDetail['last_mails'][number]

const LINK = 'text-accent underline-offset-4 hover:underline'

const CALLS = perLanguage((): readonly Column<Call>[] => [
  {
    key: 'what',
    header: t('Chamada'),
    cell: ({ model_id, api_key_name, created_at }) => (
      <>
        <Link to="/admin/modelos" search={{ q: model_id } as never} className={LINK}>
          {model_id}
        </Link>
        <span className="block text-xs text-muted">
          <DateTime instant={created_at} />
          {api_key_name !== null && ` · ${api_key_name}`}
        </span>
      </>
    ),
  },
  {
    key: 'status',
    header: t('Situação'),
    cell: ({ status, reason }) => (
      <>
        <Badge tone={status === 'charged' ? 'success' : 'danger'}>
          {status === 'charged' ? t('cobrada') : t('falhou')}
        </Badge>
        {reason !== null && <span className="block text-xs text-muted">{reason}</span>}
      </>
    ),
  },
  {
    key: 'duration',
    header: t('Duração'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ duration_ms: ms }) => (ms === null ? '–' : duration(ms)),
  },
  {
    key: 'cost',
    header: t('Cobrado'),
    isNumeric: true,
    cell: ({ cost_billed_brl: cost }) => <Money amount={cost} />,
  },
  {
    key: 'id',
    header: t('Id do pedido'),
    isSecondary: true,
    cell: ({ request_id: id }) => <code className="text-xs">{id}</code>,
  },
])

const REFUSALS = perLanguage((): readonly Column<Refusals>[] => [
  {
    key: 'why',
    header: t('Motivo'),
    cell: ({ code, status }) => (
      <>
        <span className="font-medium">{REFUSAL_WORDS()[code]?.title ?? code}</span>
        <span className="block text-xs break-all text-muted">
          {code} · {status}
        </span>
      </>
    ),
  },
  {
    key: 'last',
    header: t('Última recusa'),
    isSecondary: true,
    cell: ({ last_at: at }) => <DateTime instant={at} />,
  },
  {
    key: 'count',
    header: t('Chamadas'),
    isNumeric: true,
    cell: ({ refusals }) => wholeNumber(refusals),
  },
])

const MAILS = perLanguage((): readonly Column<Mail>[] => [
  {
    key: 'what',
    header: t('E-mail'),
    cell: ({ template, at }) => (
      <>
        <span className="font-medium">{notificationWords(template)}</span>
        <span className="block text-xs text-muted">
          <DateTime instant={at} />
        </span>
      </>
    ),
  },
  { key: 'status', header: t('Situação'), cell: (mail) => <MailStatus mail={mail} /> },
])

export function LastCalls({ customer }: { readonly customer: CustomerDetail }) {
  return (
    <Card
      title={t('Últimas chamadas')}
      description={t('Só os dados da cobrança: o que foi pedido e respondido não fica guardado.')}
    >
      {customer.last_calls.length === 0 ? (
        <EmptyState title={t('Nenhuma chamada')}>
          {t('As recusadas estão abaixo, por motivo.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Chamadas, as mais novas primeiro')}
          columns={CALLS()}
          rows={customer.last_calls}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  )
}

export function LastRefusals({ customer }: { readonly customer: CustomerDetail }) {
  return (
    <Card title={t('Recusadas em sete dias')}>
      {customer.refusals.length === 0 ? (
        <EmptyState title={t('Nenhuma recusa')}>
          {t('Nenhuma chamada foi recusada nos últimos sete dias.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Chamadas recusadas, por motivo')}
          columns={REFUSALS()}
          rows={customer.refusals}
          rowKey={({ code, status }) => `${code} ${status}`}
        />
      )}
    </Card>
  )
}

export function LastMails({ customer }: { readonly customer: CustomerDetail }) {
  return (
    <Card title={t('Últimos e-mails')}>
      {customer.last_mails.length === 0 ? (
        <EmptyState title={t('Nenhum e-mail')}>
          {t('Este cliente ainda não recebeu nenhum.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('E-mails, os mais novos primeiro')}
          columns={MAILS()}
          rows={customer.last_mails}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  )
}

function MailStatus({ mail: { status, error } }: { readonly mail: Mail }) {
  if (status === 'sent') return <Badge tone="success">{t('enviado')}</Badge>
  return (
    <>
      <Link to="/admin/entregas" className={LINK}>
        {status === 'failed' ? t('falhou') : t('esperando')}
      </Link>
      {error !== null && <span className="block text-xs break-words text-muted">{error}</span>}
    </>
  )
}
