import { api } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel, type MarkupChange } from './admin-model-queries.ts'
import { explainMarkupError, markupWords } from './admin-model-words.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  readonly model: AdminModel
  /** Undefined: the dialog is closed. */
  readonly change: MarkupChange | undefined
  readonly onClose: () => void
}

export function CancelMarkup({ model, change, onClose }: Props) {
  const cancel = useAct({
    act: (changeId: string) =>
      api.delete('/admin/models/{id}/markup/{changeId}', { path: { id: model.id, changeId } }),
    doneText: () => t('Mudança cancelada.'),
    onDone: onClose,
    changes: MODELS_CHANGE,
  })
  return (
    <ConfirmDialog
      isOpen={change !== undefined}
      onClose={onClose}
      onConfirm={() => change && cancel.mutate(change.id)}
      title={t('Cancelar a mudança de {displayName}?', { displayName: model.display_name })}
      confirmText={t('Cancelar mudança')}
      isBusy={cancel.isPending}
      error={cancel.error ? explainMarkupError(cancel.error) : undefined}
    >
      {change && (
        <p className="text-sm">
          <Trans
            id="O multiplicador continua {markupMultiplierBefore} depois de {dateTime}."
            values={{
              markupMultiplierBefore: markupWords(change.markup_multiplier_before),
              dateTime: <DateTime instant={change.starts_at} />,
            }}
          />
          {change.is_rise &&
            t(' Quem já recebeu o aviso do aumento não é avisado de que ele foi cancelado.')}
        </p>
      )}
    </ConfirmDialog>
  )
}
