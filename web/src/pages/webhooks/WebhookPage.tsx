import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SecretGuard } from '../../components/SecretGuard.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { dateTime } from '../../format/date.ts'
import { AttemptList } from './AttemptList.tsx'
import { eventWords } from './event-words.ts'
import { SigningSecret } from './SigningSecret.tsx'
import { WebhookActions } from './WebhookActions.tsx'
import { WebhookState } from './WebhooksPage.tsx'
import { webhookQuery, type Webhook } from './webhook-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function WebhookPage() {
  const { id = '' } = useParams({ strict: false })
  const found = useQuery(webhookQuery(id))
  return (
    <>
      <Link
        to="/webhooks"
        className="mb-3 inline-flex min-h-11 items-center gap-2 text-sm font-medium text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden="true" className="size-4" />
        {t('Todos os webhooks')}
      </Link>
      {found.data ? (
        <Details webhook={found.data} />
      ) : (
        <>
          <PageTitle title={t('Webhook')} />
          {found.isPending ? (
            <Card>
              <SkeletonRows label={t('Carregando o webhook')} />
            </Card>
          ) : (
            <Failure error={found.error} onRetry={() => void found.refetch()} />
          )}
        </>
      )}
    </>
  )
}

const DISABLED_WORDS = perLanguage(
  (): Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> => ({
    customer: t('Desligado por você.'),
    gone: t(
      'Desligado porque o destino respondeu que não existe mais (410). Corrija e ligue de novo.',
    ),
    failing: t('Desligado porque as entregas falharam por muito tempo. Corrija e ligue de novo.'),
  }),
)

function Details({ webhook }: { readonly webhook: Webhook }) {
  const [secret, setSecret] = useState<string>()
  const { id, url, description, event_types, failing_since } = webhook
  const disabled = webhook.disabled_reason && DISABLED_WORDS()[webhook.disabled_reason]
  return (
    <>
      <PageTitle
        title={description ?? t('Webhook')}
        description={<span className="break-all">{url}</span>}
        actions={<WebhookState webhook={webhook} />}
      />
      {secret !== undefined && (
        <SigningSecret
          key={secret}
          secret={secret}
          url={webhook.url}
          onDone={() => setSecret(undefined)}
        />
      )}
      <div className="grid gap-5">
        {disabled !== null && <Notice tone="warning">{disabled}</Notice>}
        {disabled === null && failing_since !== null && (
          <Notice tone="warning">
            <Trans
              id="As entregas falham desde {failingSince}. Se continuar assim, o webhook é desligado."
              values={{ failingSince: dateTime(failing_since) }}
            />
          </Notice>
        )}
        <SecretGuard count={secret === undefined ? 0 : 1} />
        <WebhookActions webhook={webhook} onSecret={setSecret} />
        <Card title={t('Eventos')}>
          <p className="text-sm text-muted">
            {event_types === null
              ? t('Todos, inclusive os futuros.')
              : event_types.map((type) => eventWords(type) ?? type).join(', ')}
          </p>
        </Card>
        <AttemptList webhookId={id} />
      </div>
    </>
  )
}

function Failure({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Card>
      <EmptyState
        title={t('Este webhook não existe mais')}
        action={
          <Link to="/webhooks" className={buttonClass('secondary')}>
            {t('Ver todos os webhooks')}
          </Link>
        }
      />
    </Card>
  )
}
