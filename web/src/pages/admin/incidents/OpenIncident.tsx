import { api } from '../../../api/client.ts'
import { Badge } from '../../../components/Badge.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { useFirstFocus } from '../../../lib/use-first-focus.ts'
import { ConfirmedFormDialog } from '../ConfirmedFormDialog.tsx'
import { useAct } from '../use-act.ts'
import { INCIDENTS_CHANGE, type IncidentInput } from './incident-queries.ts'
import { explainIncidentError, SEVERITY_WORDS } from './incident-words.ts'
import { IncidentForm } from './IncidentForm.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The form, a preview as customers will see it, then publication. */
export function OpenIncident({ isOpen, onClose }: Props) {
  return (
    <ConfirmedFormDialog<IncidentInput>
      isOpen={isOpen}
      onClose={onClose}
      title={t('Abrir incidente')}
      confirmationTitle={t('Publicar o incidente?')}
      renderForm={(form) => <IncidentForm {...form} />}
      renderConfirmation={(asked) => <Confirmation {...asked} />}
    />
  )
}

function Confirmation(props: {
  readonly input: IncidentInput
  readonly onBack: () => void
  readonly onDone: () => void
}) {
  const { input, onBack, onDone } = props
  const effect = useFirstFocus<HTMLParagraphElement>()
  const { text, tone } = SEVERITY_WORDS()[input.severity ?? 'major']
  const open = useAct({
    act: (_input, once) => api.post('/admin/incidents', input, { once }),
    doneText: () => t('Incidente aberto: já está na página Status.'),
    onDone,
    changes: INCIDENTS_CHANGE,
  })
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!open.isPending) open.mutate()
      }}
    >
      <p ref={effect} tabIndex={-1} className="text-sm text-muted outline-none">
        {t('Todos veem isto na página Status em segundos, também quem não é cliente:')}
      </p>
      <div className="rounded-lg border border-line p-4">
        <p className="flex flex-wrap items-center gap-2 font-semibold break-words">
          {input.title} <Badge tone={tone}>{text}</Badge>
        </p>
        <p className="mt-1 text-sm break-words whitespace-pre-line">{input.message}</p>
        {(input.models ?? []).length > 0 && (
          <p className="mt-2 text-sm text-muted">
            <Trans id="Afeta: {models}" values={{ models: input.models?.join(', ') }} />
          </p>
        )}
      </div>
      <FormEnd
        error={open.error ? explainIncidentError(open.error) : undefined}
        submitLabel={t('Publicar incidente')}
        isBusy={open.isPending}
        cancelLabel={t('Voltar')}
        onCancel={onBack}
      />
    </form>
  )
}
