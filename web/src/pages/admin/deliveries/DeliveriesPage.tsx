import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { MailCheck } from 'lucide-react'
import { api, type Answer } from '../../../api/client.ts'
import { Badge } from '../../../components/Badge.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ListCard } from '../../../components/ListCard.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { counted } from '../../../format/number.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { notificationWords } from '../../notifications/notification-words.ts'
import { FailingWebhooks } from './FailingWebhooks.tsx'
import { PersonLink } from '../PersonLink.tsx'
import { SERVICE } from '../use-act.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function DeliveriesPage() {
  return (
    <>
      <PageTitle
        title={t('Entregas')}
        description={t('E-mails e webhooks que não chegam a quem deveriam.')}
      />
      <div className="grid gap-5">
        <FailingWebhooks />
        <FailingMails />
      </div>
    </>
  )
}

type FailingMail = Answer<'get', '/admin/mails/in-trouble'>['mails'][number]

const AT_ONCE = 20

const failingMailsQuery = infiniteQueryOptions({
  queryKey: [...SERVICE, 'mails-in-trouble'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/admin/mails/in-trouble', { query: { limit: AT_ONCE, cursor: pageParam }, signal }),
  ...cursorPages,
})

function FailingMails() {
  const found = useInfiniteQuery(failingMailsQuery)
  return (
    <ListCard
      title={t('E-mails')}
      description={t('Os que falharam de vez e os que esperam há mais de dez minutos.')}
      query={found}
      entries={found.data?.pages.flatMap((page) => page.mails)}
      loadingText={t('Carregando os e-mails')}
      empty={
        <EmptyState icon={<MailCheck className="size-6" />} title={t('Todos os e-mails saíram')}>
          {t('Quando um falhar ou demorar, ele aparece aqui com o motivo.')}
        </EmptyState>
      }
    >
      {(mail) => <MailEntry key={mail.id} mail={mail} />}
    </ListCard>
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
