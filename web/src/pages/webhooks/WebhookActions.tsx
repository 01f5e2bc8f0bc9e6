import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { useToast } from '../../components/Toast.tsx'
import { WebhookDialog } from './WebhookDialog.tsx'
import { WEBHOOKS, type Webhook } from './webhook-queries.ts'
import { explainReceiverError } from './receiver-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly webhook: Webhook
  readonly onSecret: (secret: string) => void
}

export function WebhookActions({ webhook, onSecret }: Props) {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete'>()
  const close = (): void => setOpen(undefined)
  const { test, toggle, rotate, remove } = useWebhookActs(webhook, { close, onSecret })
  const { is_enabled: isEnabled } = webhook
  return (
    <div className="flex flex-wrap gap-3">
      <Button disabled={!isEnabled} isBusy={test.isPending} onClick={() => test.mutate()}>
        {t('Enviar teste')}
      </Button>
      <Button variant="secondary" onClick={() => setOpen('edit')}>
        {t('Alterar')}
      </Button>
      <Button variant="secondary" isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
        {isEnabled ? t('Desligar') : t('Ligar')}
      </Button>
      <Button variant="secondary" onClick={() => setOpen('rotate')}>
        {t('Trocar segredo')}
      </Button>
      <Button variant="quiet" onClick={() => setOpen('delete')}>
        {t('Excluir')}
      </Button>
      <WebhookDialog webhook={webhook} isOpen={open === 'edit'} onClose={close} />
      <ConfirmDialog
        isOpen={open === 'rotate'}
        onClose={close}
        onConfirm={() => rotate.mutate()}
        title={t('Trocar o segredo das assinaturas?')}
        confirmText={t('Trocar segredo')}
        isBusy={rotate.isPending}
        error={rotate.error ? explainReceiverError(rotate.error) : undefined}
      >
        <p className="text-sm text-muted">
          {t(
            'O segredo atual deixa de valer na hora: até você colocar o novo no seu servidor, ele recusa as mensagens.',
          )}
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutate()}
        title={t('Excluir este webhook?')}
        confirmText={t('Excluir webhook')}
        isBusy={remove.isPending}
        error={remove.error ? explainReceiverError(remove.error) : undefined}
      >
        <p className="text-sm text-muted">
          {t('O que está na fila não é mais enviado, e as tentativas deixam de aparecer.')}
        </p>
      </ConfirmDialog>
    </div>
  )
}

function useWebhookActs(
  { id, is_enabled }: Webhook,
  { close, onSecret }: { close: () => void; onSecret: (secret: string) => void },
) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const path = { id }
  const refresh = () => queries.invalidateQueries({ queryKey: WEBHOOKS })
  const showError = (error: Error): void => toast(explainReceiverError(error), 'danger')
  return {
    test: useSubmit({
      mutationFn: (_input: void, once) =>
        api.post('/webhooks/{id}/test', undefined, { path, once }),
      onSuccess() {
        toast(t('Mensagem de teste na fila.'))
        return refresh()
      },
      onError: showError,
    }),
    toggle: useSubmit({
      mutationFn: () => api.patch('/webhooks/{id}', { is_enabled: !is_enabled }, { path }),
      onSuccess: refresh,
      onError: showError,
    }),
    rotate: useSubmit({
      mutationFn: (_input: void, once) =>
        api.post('/webhooks/{id}/rotate-secret', undefined, { path, once }),
      onSuccess({ signing_secret }) {
        onSecret(signing_secret)
        close()
      },
    }),
    remove: useSubmit({
      mutationFn: () => api.delete('/webhooks/{id}', { path }),
      async onSuccess() {
        toast(t('Webhook excluído.'))
        await navigate({ to: '/webhooks' })
        await refresh()
      },
    }),
  }
}
