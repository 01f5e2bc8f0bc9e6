import { ApiError } from '../../../api/api-error.ts'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { SERVICE, useAct } from '../use-act.ts'
import type { FailingWebhook } from './delivery-queries.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  /** Undefined: the dialog is closed. */
  readonly webhook: FailingWebhook | undefined
  readonly onClose: () => void
}

export function EnableWebhook({ webhook, onClose }: Props) {
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
