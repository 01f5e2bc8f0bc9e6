import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Switch } from '../../components/Switch.tsx'
import { useToast } from '../../components/Toast.tsx'
import { dateTime } from '../../format/date.ts'
import { keysToChooseQuery } from '../usage/usage-queries.ts'
import { alertsQuery, ownTeamsQuery, useAlertSwitch, type Alert } from './alert-queries.ts'
import { ruleWords, valueWords } from './alert-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly alert: Alert
  readonly onEdit: () => void
}

export function AlertEntry({ alert, onEdit }: Props) {
  const [isDeleting, setDeleting] = useState(false)
  const toggle = useAlertSwitch()
  const { name, is_enabled: isOn } = alert
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-card border border-line bg-surface p-4 shadow-card md:p-5">
      <div className="min-w-0 flex-1 basis-60">
        <h2 className="flex flex-wrap items-center gap-2 font-semibold break-words">
          {name}
          <State alert={alert} />
        </h2>
        <p className="text-sm text-muted">{ruleWords(alert)}</p>
        <Scope alert={alert} />
        {alert.last_fired_at !== null && alert.last_value !== null && (
          <p className="mt-1 text-sm tabular-nums">
            <Trans
              id="Disparou em {lastFiredAt} com {kind}."
              values={{
                lastFiredAt: dateTime(alert.last_fired_at),
                kind: valueWords(alert.kind, alert.last_value),
              }}
            />
          </p>
        )}
      </div>
      <div className="flex items-center gap-1">
        <Button variant="quiet" aria-label={t('Alterar {name}', { name })} onClick={onEdit}>
          {t('Alterar')}
        </Button>
        <Button
          variant="quiet"
          aria-label={t('Excluir {name}', { name })}
          onClick={() => setDeleting(true)}
        >
          {t('Excluir')}
        </Button>
        <Switch
          isOn={isOn}
          label={t('Alerta {name}', { name })}
          onChange={(next) => toggle.mutate({ id: alert.id, isOn: next })}
        />
      </div>
      <DeleteAlert alert={alert} isOpen={isDeleting} onClose={() => setDeleting(false)} />
    </li>
  )
}

function State({ alert: { is_enabled, state } }: { readonly alert: Alert }) {
  if (!is_enabled) return <Badge>{t('desligado')}</Badge>
  return state === 'triggered' ? (
    <Badge tone="warning">{t('disparado')}</Badge>
  ) : (
    <Badge tone="success">{t('tudo bem')}</Badge>
  )
}

/** Renders nothing for an alert on the whole account. */
function Scope({ alert: { api_key_id, team_id } }: { readonly alert: Alert }) {
  const keys = useQuery({ ...keysToChooseQuery, enabled: api_key_id !== null })
  const teams = useQuery({ ...ownTeamsQuery, enabled: team_id !== null })
  if (api_key_id !== null) {
    const key = keys.data?.keys.find((each) => each.api_key_id === api_key_id)
    return (
      <p className="text-sm text-muted">
        <Trans id="Só a chave {name}." values={{ name: key?.name ?? api_key_id }} />
      </p>
    )
  }
  if (team_id === null) return null
  const team = teams.data?.find(({ id }) => id === team_id)
  return (
    <p className="text-sm text-muted">
      <Trans id="Só a equipe {name}." values={{ name: team?.name ?? team_id }} />
    </p>
  )
}

function DeleteAlert(props: {
  readonly alert: Alert
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const { alert, isOpen, onClose } = props
  const queries = useQueryClient()
  const toast = useToast()
  const remove = useSubmit({
    mutationFn: () => api.delete('/me/alerts/{id}', { path: { id: alert.id } }),
    async onSuccess() {
      toast(t('Alerta excluído.'))
      await queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
      onClose()
    },
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      title={t('Excluir o alerta “{name}”?', { name: alert.name })}
      confirmText={t('Excluir alerta')}
      isBusy={remove.isPending}
      error={remove.error ? explainError(remove.error) : undefined}
    >
      <p className="text-sm text-muted">
        {t('Ele deixa de avisar na hora. Para uma pausa, desligue em vez de excluir.')}
      </p>
    </ConfirmDialog>
  )
}
