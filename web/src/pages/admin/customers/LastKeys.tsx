import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { KEY_STATUS, PAUSE_REASON } from '../../keys/key-words.ts'
import { useAct } from '../use-act.ts'
import type { CustomerDetail } from './customer-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

type Key = CustomerDetail['last_keys'][number]

const COLUMNS = perLanguage((): readonly Column<Key>[] => [
  { key: 'what', header: t('Chave'), cell: (each) => <What apiKey={each} /> },
  { key: 'status', header: t('Situação'), cell: (each) => <Status apiKey={each} /> },
  {
    key: 'id',
    header: t('Id'),
    isSecondary: true,
    cell: ({ id }) => <code className="text-xs">{id}</code>,
  },
  { key: 'act', header: t('Ação'), cell: (each) => <PauseByOperator apiKey={each} /> },
])

export function LastKeys({ keys }: { readonly keys: readonly Key[] }) {
  return (
    <Card title={t('Chaves usadas por último')}>
      {keys.length === 0 ? (
        <EmptyState title={t('Nenhuma chave')}>
          {t('Este cliente não tem chaves em vigor.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Chaves, as usadas por último primeiro')}
          columns={COLUMNS()}
          rows={keys}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  )
}

function What({ apiKey: { name, last_four, last_used_at } }: { readonly apiKey: Key }) {
  return (
    <>
      <span className="font-medium break-words">{name}</span>
      <span className="block text-xs text-muted">
        …{last_four} ·{' '}
        {last_used_at === null ? t('nunca usada') : <DateTime instant={last_used_at} />}
      </span>
    </>
  )
}

function Status({ apiKey: { status, paused_reason } }: { readonly apiKey: Key }) {
  const { tone, text } = KEY_STATUS()[status]
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {paused_reason !== null && (
        <span className="block text-xs text-muted">
          {paused_reason === 'operator' ? t('Pela operação.') : PAUSE_REASON()[paused_reason]}
        </span>
      )}
    </>
  )
}

/** An operator lifts only an operator's pause. */
function PauseByOperator({ apiKey: { id, name, paused_reason } }: { readonly apiKey: Key }) {
  const isPaused = paused_reason === 'operator'
  const [isOpen, setOpen] = useState(false)
  const path = { id }
  const change = useAct({
    act: () =>
      isPaused
        ? api.post('/admin/api-keys/{id}/resume', undefined, { path })
        : api.post('/admin/api-keys/{id}/pause', undefined, { path }),
    doneText: ({ is_paused: isNow }) =>
      isNow
        ? t('A chave {name} está pausada.', { name })
        : t('A chave {name} está ativa de novo.', { name }),
    onDone: () => setOpen(false),
  })
  const text = isPaused ? t('Retomar') : t('Pausar')
  return (
    <>
      <Button
        variant="quiet"
        className="px-3"
        aria-label={`${text} ${name}`}
        onClick={() => setOpen(true)}
      >
        {text}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => change.mutate()}
        title={t('{text} a chave {name}?', { text, name })}
        confirmText={t('{text} chave', { text })}
        variant={isPaused ? 'primary' : 'danger'}
        isBusy={change.isPending}
        error={change.error ? explainError(change.error) : undefined}
      >
        <p className="text-sm text-muted">
          {isPaused
            ? t(
                'A pausa da operação acaba. Se o cliente também a pausou, ela continua pausada até que ele a retome.',
              )
            : t(
                'Toda chamada com ela é recusada na hora, em todos os nós; as que estão em andamento terminam. O cliente recebe um aviso e não pode retomá-la.',
              )}
        </p>
      </ConfirmDialog>
    </>
  )
}
