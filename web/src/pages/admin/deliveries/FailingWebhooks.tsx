import { useInfiniteQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { counted } from '../../../format/number.ts'
import { attemptErrorWords } from '../../webhooks/webhook-words.ts'
import { PersonLink } from '../PersonLink.tsx'
import { failingWebhooksQuery, type FailingWebhook } from './delivery-queries.ts'
import { EnableWebhook } from './EnableWebhook.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function FailingWebhooks() {
  const found = useInfiniteQuery(failingWebhooksQuery)
  const [enabled, setEnabled] = useState<FailingWebhook>()
  const webhooks = found.data?.pages.flatMap((page) => page.webhooks) ?? []
  return (
    <Card
      title={t('Webhooks')}
      description={t('Os que falham agora e os que foram desligados por isso.')}
    >
      {found.isPending && <SkeletonRows label={t('Carregando os webhooks')} />}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && webhooks.length === 0 && (
        <EmptyState icon={<Webhook className="size-6" />} title={t('Todos os webhooks respondem')}>
          {t('Quando o sistema de um cliente parar de responder, ele aparece aqui.')}
        </EmptyState>
      )}
      <ul className="divide-y divide-line">
        {webhooks.map((webhook) => (
          <WebhookEntry key={webhook.id} webhook={webhook} onEnable={() => setEnabled(webhook)} />
        ))}
      </ul>
      <LoadMore query={found} />
      <EnableWebhook webhook={enabled} onClose={() => setEnabled(undefined)} />
    </Card>
  )
}

interface EntryProps {
  readonly webhook: FailingWebhook
  readonly onEnable: () => void
}

function WebhookEntry({ webhook, onEnable }: EntryProps) {
  const { origin, disabled_at: disabledAt, failing_since: failingSince } = webhook
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-4 text-sm first:pt-0 last:pb-0">
      <div className="grid min-w-0 flex-1 basis-60 gap-1">
        <p className="flex flex-wrap items-center gap-2 font-medium break-all">
          {origin}
          {disabledAt === null ? (
            <Badge tone="warning">{t('falhando')}</Badge>
          ) : (
            <Badge tone="danger">{t('desligado')}</Badge>
          )}
        </p>
        <p className="text-muted">
          <PersonLink id={webhook.customer_id} name={null} />
          {disabledAt !== null && (
            <>
              {' '}
              <Trans
                id="· desligado em {dateTime}"
                values={{ dateTime: <DateTime instant={disabledAt} /> }}
              />
              {webhook.disabled_reason === 'gone' && t(': o sistema respondeu que não existe mais')}
            </>
          )}
          {failingSince !== null && (
            <>
              {' '}
              <Trans
                id="· falha desde {dateTime}"
                values={{ dateTime: <DateTime instant={failingSince} /> }}
              />
            </>
          )}
        </p>
        <p className="break-words text-muted">
          <LastFailure webhook={webhook} />
          {webhook.queued > 0 &&
            ` ${counted(webhook.queued, t('mensagem espera'), t('mensagens esperam'))}.`}
        </p>
      </div>
      {disabledAt !== null && (
        <Button
          variant="secondary"
          aria-label={t('Ligar de novo o webhook de {origin}', { origin })}
          onClick={onEnable}
        >
          {t('Ligar de novo')}
        </Button>
      )}
    </li>
  )
}

function LastFailure({ webhook }: { readonly webhook: FailingWebhook }) {
  const { last_error: error, last_http_status: status, last_failed_at: at } = webhook
  if (at === null) return null
  const words = attemptErrorWords({ error, http_status: status })
  return (
    <>
      <Trans
        id="Última falha em {dateTime}. {words}"
        values={{ dateTime: <DateTime instant={at} />, words }}
      />
    </>
  )
}
