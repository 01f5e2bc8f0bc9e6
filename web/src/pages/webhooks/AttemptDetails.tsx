import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { useToast } from '../../components/Toast.tsx'
import { dateTime } from '../../format/date.ts'
import { attemptQuery, WEBHOOKS, type Attempt } from './webhook-queries.ts'
import { explainReceiverError, receiverErrorWords } from './receiver-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The exact request and answer, and a button to send the same message again. */
export function AttemptDetails({ attempt }: { readonly attempt: Attempt }) {
  const found = useQuery(attemptQuery(attempt))
  const queries = useQueryClient()
  const toast = useToast()
  const replay = useSubmit({
    mutationFn: (_input: void, once) =>
      api.post('/webhooks/attempts/{attemptId}/replay', undefined, {
        path: { attemptId: attempt.delivery_id },
        once,
      }),
    onSuccess() {
      toast(t('Reenvio na fila.'))
      return queries.invalidateQueries({ queryKey: WEBHOOKS })
    },
    onError: (error) => toast(explainReceiverError(error), 'danger'),
  })
  if (found.isPending) return <SkeletonRows rows={2} label={t('Carregando a tentativa')} />
  if (found.isError) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const { error, http_status } = attempt
  return (
    <div className="grid gap-4 text-sm">
      {error !== null && <Notice tone="danger">{receiverErrorWords(error, http_status)}</Notice>}
      {attempt.status === 'queued' && (
        <p>
          <Trans id="Sai em {dueAt}." values={{ dueAt: dateTime(attempt.due_at) }} />
        </p>
      )}
      <Text name={t('Corpo enviado')} text={pretty(found.data.body)} />
      {found.data.response_head !== null && (
        <Text
          name={t('Começo da resposta')}
          text={found.data.response_head === '' ? t('(vazia)') : found.data.response_head}
        />
      )}
      <dl className="grid gap-x-6 gap-y-2 text-xs sm:grid-cols-2">
        <Id name={t('webhook-id (da mensagem)')} id={attempt.message_id} />
        <Id name={t('x-svc-delivery-id (da tentativa)')} id={attempt.delivery_id} />
      </dl>
      <div>
        <Button variant="secondary" isBusy={replay.isPending} onClick={() => replay.mutate()}>
          {t('Reenviar')}
        </Button>
      </div>
    </div>
  )
}

function Text({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 text-xs text-muted">{name}</figcaption>
      <pre
        role="region"
        aria-label={name}
        // Focusable, so that long text scrolls by keyboard.
        tabIndex={0}
        className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 text-xs break-all whitespace-pre-wrap"
      >
        {text}
      </pre>
    </figure>
  )
}

function Id({ name, id }: { readonly name: string; readonly id: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted">{name}</dt>
      <dd className="break-all">
        <code>{id}</code>
      </dd>
    </div>
  )
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
