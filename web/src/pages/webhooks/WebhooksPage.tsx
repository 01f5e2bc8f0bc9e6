import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SecretGuard } from '../../components/SecretGuard.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { counted } from '../../format/number.ts'
import { stateWords } from './receiver-words.ts'
import { SigningSecret } from './SigningSecret.tsx'
import { WebhookDialog } from './WebhookDialog.tsx'
import { webhooksQuery, type Webhook, type WebhookWithSecret } from './webhook-queries.ts'
import { t } from '../../language/t.ts'

export function WebhooksPage() {
  const found = useQuery(webhooksQuery)
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<readonly WebhookWithSecret[]>([])
  const webhooks = found.data?.webhooks ?? []
  const create = (
    <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setCreating(true)}>
      {t('Criar webhook')}
    </Button>
  )
  return (
    <>
      <PageTitle
        title={t('Webhooks')}
        description={t('Mensagens assinadas para o seu sistema, na hora em que algo acontece.')}
        actions={webhooks.length > 0 && create}
      />
      {made.map(({ id, url, signing_secret }) => (
        <SigningSecret
          key={id}
          secret={signing_secret}
          url={url}
          onDone={() => setMade((before) => before.filter((each) => each.id !== id))}
        />
      ))}
      <SecretGuard count={made.length} />
      {found.isPending && (
        <Card>
          <SkeletonRows label={t('Carregando os webhooks')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && webhooks.length === 0 && (
        <Card>
          <EmptyState
            icon={<WebhookIcon className="size-6" />}
            title={t('Nenhum webhook ainda')}
            action={create}
          >
            {t('Receba recargas pagas, saldo baixo, chaves novas e alertas direto no seu sistema.')}
          </EmptyState>
        </Card>
      )}
      {webhooks.length > 0 && (
        <ul className="grid gap-3">
          {webhooks.map((webhook) => (
            <WebhookEntry key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
      <WebhookDialog
        webhook={undefined}
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={(webhook) => setMade((before) => [webhook, ...before])}
      />
    </>
  )
}

function WebhookEntry({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, description, event_types } = webhook
  return (
    <li className="relative flex flex-wrap items-center justify-between gap-3 rounded-card border border-line bg-surface p-4 shadow-card focus-within:border-accent hover:border-line-strong md:p-5">
      <div className="min-w-0">
        <h2 className="font-semibold break-all">
          <Link
            to="/webhooks/$id"
            params={{ id }}
            // Makes the whole entry clickable.
            className="after:absolute after:inset-0 after:rounded-card"
          >
            {description ?? url}
          </Link>
        </h2>
        {description !== null && <p className="text-sm break-all text-muted">{url}</p>}
        <p className="text-sm text-muted">
          {event_types === null
            ? t('todos os eventos')
            : counted(event_types.length, t('tipo de evento'), t('tipos de evento'))}
        </p>
      </div>
      <WebhookState webhook={webhook} />
    </li>
  )
}

export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  const { text, tone } = stateWords(webhook, { text: t('ligado'), tone: 'success' })
  return <Badge tone={tone}>{text}</Badge>
}
