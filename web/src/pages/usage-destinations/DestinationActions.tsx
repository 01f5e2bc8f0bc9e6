import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { useToast } from '../../components/Toast.tsx'
import { t } from '../../language/t.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { DestinationDialog } from './DestinationDialog.tsx'
import { DESTINATIONS, isTestRunning, type Destination } from './destination-queries.ts'
import { explainReceiverError } from '../webhooks/receiver-words.ts'

export function DestinationActions({ destination }: { readonly destination: Destination }) {
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = (): void => setOpen(undefined)
  const { test, toggle, remove } = useDestinationActs(destination, close)
  const { is_enabled: isEnabled } = destination
  return (
    <div className="flex flex-wrap gap-3">
      <Button
        disabled={!isEnabled}
        isBusy={test.isPending || isTestRunning(destination)}
        onClick={() => test.mutate()}
      >
        {t('Enviar teste')}
      </Button>
      <Button variant="secondary" onClick={() => setOpen('edit')}>
        {t('Alterar')}
      </Button>
      <Button variant="secondary" isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
        {isEnabled ? t('Desligar') : t('Ligar')}
      </Button>
      <Button variant="quiet" onClick={() => setOpen('delete')}>
        {t('Excluir')}
      </Button>
      <DestinationDialog destination={destination} isOpen={open === 'edit'} onClose={close} />
      <ConfirmDialog
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutate()}
        title={t('Excluir este destino?')}
        confirmText={t('Excluir destino')}
        isBusy={remove.isPending}
        error={remove.error ? explainReceiverError(remove.error) : undefined}
      >
        <p className="text-sm text-muted">
          {t('Nada mais é enviado, e as chaves guardadas são apagadas. O que já chegou fica lá.')}
        </p>
      </ConfirmDialog>
    </div>
  )
}

function useDestinationActs({ id, is_enabled }: Destination, close: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  const path = { id }
  const refresh = () => queries.invalidateQueries({ queryKey: DESTINATIONS })
  const showError = (error: Error): void => toast(explainReceiverError(error), 'danger')
  return {
    test: useSubmit({
      mutationFn: (_input: void, once) =>
        api.post('/usage/destinations/{id}/test', undefined, { path, once }),
      onSuccess: refresh,
      onError: showError,
    }),
    toggle: useSubmit({
      mutationFn: () =>
        api.patch('/usage/destinations/{id}', { is_enabled: !is_enabled }, { path }),
      onSuccess: refresh,
      onError: showError,
    }),
    remove: useSubmit({
      mutationFn: () => api.delete('/usage/destinations/{id}', { path }),
      async onSuccess() {
        toast(t('Destino excluído.'))
        close()
        await refresh()
      },
    }),
  }
}
