import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { api, type Answer } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ListCard } from '../../../components/ListCard.tsx'
import { counted } from '../../../format/number.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { receiverErrorWords } from '../../webhooks/receiver-words.ts'
import { PersonLink } from '../PersonLink.tsx'
import { SERVICE, useAct } from '../use-act.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

type FailingWebhook = Answer<'get', '/admin/webhooks/in-trouble'>['webhooks'][number]

const AT_ONCE = 20

const failingWebhooksQuery = infiniteQueryOptions({
  queryKey: [...SERVICE, 'webhooks-in-trouble'],
  queryFn: ({ pageParam, signal }) =>
    api.get('/admin/webhooks/in-trouble', { query: { limit: AT_ONCE, cursor: pageParam }, signal }),
  ...cursorPages,
})

export function FailingWebhooks() {
  const found = useInfiniteQuery(failingWebhooksQuery)
  const [enabled, setEnabled] = useState<FailingWebhook>()
  return (
    <>
      <ListCard
        title={t('Webhooks')}
        description={t('Os que falham agora e os que foram desligados por isso.')}
        query={found}
        entries={found.data?.pages.flatMap((page) => page.webhooks)}
        loadingText={t('Carregando os webhooks')}
        empty={
          <EmptyState
            icon={<Webhook className="size-6" />}
            title={t('Todos os webhooks respondem')}
          >
            {t('Quando o sistema de um cliente parar de responder, ele aparece aqui.')}
          </EmptyState>
        }
      >
        {(webhook) => (
          <WebhookEntry key={webhook.id} webhook={webhook} onEnable={() => setEnabled(webhook)} />
        )}
      </ListCard>
      <EnableWebhook webhook={enabled} onClose={() => setEnabled(undefined)} />
    </>
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
  const words = error === null ? '' : receiverErrorWords(error, status)
  return (
    <>
      <Trans
        id="Última falha em {dateTime}. {words}"
        values={{ dateTime: <DateTime instant={at} />, words }}
      />
    </>
  )
}

interface EnableProps {
  /** Undefined: the dialog is closed. */
  readonly webhook: FailingWebhook | undefined
  readonly onClose: () => void
}

function EnableWebhook({ webhook, onClose }: EnableProps) {
  const enable = useAct({
    act: (id: string) => api.post('/admin/webhooks/{id}/enable', undefined, { path: { id } }),
    doneText: () => t('Webhook ligado de novo.'),
    onDone: onClose,
    changes: [SERVICE],
  })
  return (
    <ConfirmDialog
      isOpen={webhook !== undefined}
      onClose={onClose}
      onConfirm={() => webhook && enable.mutate(webhook.id)}
      title={t('Ligar o webhook de novo?')}
      confirmText={t('Ligar webhook')}
      variant="primary"
      isBusy={enable.isPending}
      error={enable.error ? explainEnableError(enable.error) : undefined}
    >
      <p className="text-sm">
        <Trans
          id="Mensagens novas voltam a ir para {span} na hora. As que falharam antes não são reenviadas por isso: o cliente as reenvia na página dele. Se continuar falhando, é desligado de novo."
          values={{ span: <span className="break-all">{webhook?.origin}</span> }}
        />
      </p>
    </ConfirmDialog>
  )
}

function explainEnableError(error: Error): string {
  if (error instanceof ApiError && error.code === 'webhook_disabled_by_customer')
    return t('Foi o cliente quem desligou este webhook: só ele o liga de novo.')
  return explainError(error)
}
