import { useInfiniteQuery } from '@tanstack/react-query'
import { MailCheck } from 'lucide-react'
import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { counted } from '../../../format/number.ts'
import { notificationWords } from '../../notifications/notification-words.ts'
import { PersonLink } from '../PersonLink.tsx'
import { failingMailsQuery, type FailingMail } from './delivery-queries.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function FailingMails() {
  const found = useInfiniteQuery(failingMailsQuery)
  const mails = found.data?.pages.flatMap((page) => page.mails) ?? []
  return (
    <Card
      title={t('E-mails')}
      description={t('Os que falharam de vez e os que esperam há mais de dez minutos.')}
    >
      {found.isPending && <SkeletonRows label={t('Carregando os e-mails')} />}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && mails.length === 0 && (
        <EmptyState icon={<MailCheck className="size-6" />} title={t('Todos os e-mails saíram')}>
          {t('Quando um falhar ou demorar, ele aparece aqui com o motivo.')}
        </EmptyState>
      )}
      <ul className="divide-y divide-line">
        {mails.map((mail) => (
          <MailEntry key={mail.id} mail={mail} />
        ))}
      </ul>
      <LoadMore query={found} />
    </Card>
  )
}

function MailEntry({ mail }: { readonly mail: FailingMail }) {
  const { template, status, address, error, tries, next_try_at: next } = mail
  return (
    <li className="grid gap-1 py-3 text-sm first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <p className="font-medium">{notificationWords(template)}</p>
        <Badge tone={status === 'failed' ? 'danger' : 'warning'}>
          {status === 'failed' ? t('falhou') : t('esperando')}
        </Badge>
      </div>
      <p className="break-words text-muted">
        <Trans
          id="Para {address} ·"
          values={{ address: address ?? t('quem não tem mais e-mail') }}
        />{' '}
        <PersonLink id={mail.customer_id} name={null} />
        <Trans id=" · desde {dateTime}" values={{ dateTime: <DateTime instant={mail.since} /> }} />
      </p>
      {error !== null && <p className="break-words text-danger">{error}</p>}
      {status === 'waiting' && (
        <p className="text-muted">
          {counted(tries ?? 0, t('tentativa'), t('tentativas'))}
          {next !== null && (
            <>
              <Trans
                id="; a próxima em {dateTime}"
                values={{ dateTime: <DateTime instant={next} /> }}
              />
            </>
          )}
        </p>
      )}
    </li>
  )
}
