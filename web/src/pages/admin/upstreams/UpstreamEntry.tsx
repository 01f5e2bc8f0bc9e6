import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { counted } from '../../../format/number.ts'
import { useAct } from '../use-act.ts'
import { KeyField } from './AddUpstream.tsx'
import {
  kindWords,
  SOURCE_WORDS,
  STATE_WORDS,
  testWords,
  UPSTREAMS_CHANGE,
  type Upstream,
} from './upstream-queries.ts'
import { t } from '../../../language/t.ts'

/** Those of the settings are shown, and change there. */
export function UpstreamEntry({ upstream }: { readonly upstream: Upstream }) {
  const { id, kind, source, host, key_end: keyEnd, state, problem, models } = upstream
  const [asked, setAsked] = useState<'key' | 'delete'>()
  const [seen, setSeen] = useState<string>()
  const path = { id }
  const test = useAct({
    act: () => api.post('/admin/upstreams/{id}/test', undefined, { path }),
    doneText: () => t('Provedor {id} testado.', { id }),
    onDone: () => {},
    changes: UPSTREAMS_CHANGE,
  })
  const change = useAct<Upstream['state'], Upstream>({
    act: (next) => api.patch('/admin/upstreams/{id}', { state: next }, { path }),
    doneText: (now) => `${id}: ${STATE_WORDS()[now.state]}.`,
    onDone: () => {},
    changes: UPSTREAMS_CHANGE,
  })
  const facts = [
    kindWords(kind),
    SOURCE_WORDS()[source],
    ...(host === null ? [] : [host]),
    ...(keyEnd === null ? [] : [t('chave …{keyEnd}', { keyEnd })]),
    counted(models, t('modelo'), t('modelos')),
  ]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold break-words">
            {id}
            {state !== 'active' && <Badge tone="warning">{STATE_WORDS()[state]}</Badge>}
            {problem !== null && <Badge tone="danger">{problemWords(problem)}</Badge>}
          </h2>
          <p className="text-sm break-words text-muted">{facts.join(' · ')}</p>
        </div>
        <div className="flex flex-wrap items-center gap-x-1">
          {source !== 'built_in' && (
            <Button
              variant="quiet"
              isBusy={test.isPending}
              aria-label={`${t('Testar')} ${id}`}
              onClick={() =>
                test.mutate(undefined, {
                  onSuccess: (result) => setSeen(testWords(result)),
                  onError: (error) => setSeen(explainError(error)),
                })
              }
            >
              {t('Testar')}
            </Button>
          )}
          {source === 'browser' && (
            <>
              {state === 'active' ? (
                <>
                  <Act name={t('Drenar')} of={id} onAct={() => change.mutate('draining')} />
                  <Act name={t('Pausar')} of={id} onAct={() => change.mutate('paused')} />
                </>
              ) : (
                <Act name={t('Retomar')} of={id} onAct={() => change.mutate('active')} />
              )}
              <Act name={t('Trocar a chave')} of={id} onAct={() => setAsked('key')} />
              <Act name={t('Excluir')} of={id} onAct={() => setAsked('delete')} />
            </>
          )}
        </div>
      </div>
      {(seen !== undefined || change.error) && (
        <p role="status" className="text-sm break-words text-muted">
          {change.error ? explainError(change.error) : seen}
        </p>
      )}
      <RotateKey id={id} isOpen={asked === 'key'} onClose={() => setAsked(undefined)} />
      <DeleteUpstream id={id} isOpen={asked === 'delete'} onClose={() => setAsked(undefined)} />
    </li>
  )
}

function Act(props: { readonly name: string; readonly of: string; readonly onAct: () => void }) {
  return (
    <Button variant="quiet" aria-label={`${props.name} ${props.of}`} onClick={props.onAct}>
      {props.name}
    </Button>
  )
}

function problemWords(problem: NonNullable<Upstream['problem']>): string {
  return problem === 'replaced' ? t('vale o da configuração') : t('a chave não pode ser lida')
}

interface Asked {
  readonly id: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RotateKey({ id, isOpen, onClose }: Asked) {
  const [key, setKey] = useState('')
  const act = useAct({
    act: () => api.patch('/admin/upstreams/{id}', { api_key: key.trim() }, { path: { id } }),
    doneText: () => t('A chave de {id} foi trocada.', { id }),
    onDone: () => {
      setKey('')
      onClose()
    },
    changes: UPSTREAMS_CHANGE,
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => act.mutate()}
      title={t('Trocar a chave de {id}', { id })}
      confirmText={t('Trocar a chave')}
      isBusy={act.isPending}
      isDisabled={key.trim() === ''}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm">{t('As próximas chamadas usam a nova, em todos os nós.')}</p>
      <KeyField value={key} isRequired onChange={setKey} />
    </ConfirmDialog>
  )
}

function DeleteUpstream({ id, isOpen, onClose }: Asked) {
  const act = useAct({
    act: () => api.delete('/admin/upstreams/{id}', { path: { id } }),
    doneText: () => t('Provedor {id} excluído.', { id }),
    onDone: onClose,
    changes: UPSTREAMS_CHANGE,
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => act.mutate()}
      title={t('Excluir o provedor {id}?', { id })}
      confirmText={t('Excluir')}
      variant="danger"
      isBusy={act.isPending}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm">
        {t(
          'A chave é apagada, e os modelos que só ele atende saem do catálogo. Chamadas em andamento terminam.',
        )}
      </p>
    </ConfirmDialog>
  )
}
