import { api } from '../../../api/client.ts'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { dateTime } from '../../../format/date.ts'
import { useFirstFocus } from '../../../lib/use-first-focus.ts'
import { ConfirmedFormDialog } from '../ConfirmedFormDialog.tsx'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel, type MarkupInput } from './admin-model-queries.ts'
import { changeWords, explainMarkupError, lastMarkup, markupWords } from './admin-model-words.ts'
import { MarkupForm } from './MarkupForm.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  readonly model: AdminModel
  readonly noticeDays: number
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function MarkupDialog({ model, noticeDays, isOpen, onClose }: Props) {
  return (
    <ConfirmedFormDialog<MarkupInput>
      isOpen={isOpen}
      onClose={onClose}
      title={t('Multiplicador de {displayName}', { displayName: model.display_name })}
      confirmationTitle={t('Confirmar a mudança')}
      renderForm={(form) => <MarkupForm models={[model]} noticeDays={noticeDays} {...form} />}
      renderConfirmation={(asked) => <Confirmation model={model} {...asked} />}
    />
  )
}

function Confirmation(props: {
  readonly model: AdminModel
  readonly input: MarkupInput
  readonly onBack: () => void
  readonly onDone: () => void
}) {
  const { model, input, onBack, onDone } = props
  const effect = useFirstFocus<HTMLParagraphElement>()
  const before = lastMarkup(model)
  const { markup_multiplier: markup, starts_at: startsAt } = input
  const schedule = useAct({
    act: (_input, once) =>
      api.post('/admin/models/{id}/markup', input, { path: { id: model.id }, once }),
    doneText: ({ starts_at }) =>
      startsAt === undefined
        ? t('Multiplicador mudado.')
        : t('Mudança marcada: {startsAt}.', { startsAt: dateTime(starts_at) }),
    onDone,
    changes: MODELS_CHANGE,
  })
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!schedule.isPending) schedule.mutate()
      }}
    >
      <p ref={effect} tabIndex={-1} className="font-semibold outline-none">
        <Trans
          id="{displayName} passa de {before} para {markup} ({before2} no preço)"
          values={{
            displayName: model.display_name,
            before: markupWords(before),
            markup: markupWords(markup),
            before2: changeWords(before, markup),
          }}
        />
        {startsAt === undefined
          ? t(' agora')
          : t(' em {startsAt}', { startsAt: dateTime(startsAt) })}
        .
      </p>
      <Notice tone={markup > before ? 'warning' : 'info'}>
        <Trans
          id="{word} Chamadas já começadas ficam com o preço de agora."
          values={{
            word:
              markup > before
                ? t(
                    'Em até um minuto, quem usou o modelo nos últimos 90 dias recebe um e-mail com o preço novo. Cancelar depois não desfaz o aviso.',
                  )
                : t('É uma redução: vale sem aviso, e ninguém recebe e-mail.'),
          }}
        />
      </Notice>
      <p className="text-sm break-words text-muted">
        <Trans id="Motivo: {reason}" values={{ reason: input.reason }} />
      </p>
      <FormEnd
        error={schedule.error ? explainMarkupError(schedule.error) : undefined}
        submitLabel={startsAt === undefined ? t('Mudar agora') : t('Marcar mudança')}
        isBusy={schedule.isPending}
        cancelLabel={t('Voltar')}
        onCancel={onBack}
      />
    </form>
  )
}
