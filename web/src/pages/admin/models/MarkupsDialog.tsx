import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { Select } from '../../../components/Select.tsx'
import { dateTime } from '../../../format/date.ts'
import { makerWords } from '../../models/MakerMark.tsx'
import { counted } from '../../../format/number.ts'
import { useFirstFocus } from '../../../lib/use-first-focus.ts'
import { ConfirmedFormDialog } from '../ConfirmedFormDialog.tsx'
import { useAct } from '../use-act.ts'
import { MODELS_CHANGE, type AdminModel, type MarkupInput } from './admin-model-queries.ts'
import { explainMarkupError, lastMarkup, markupWords } from './admin-model-words.ts'
import { MarkupForm } from './MarkupForm.tsx'
import { t } from '../../../language/t.ts'

interface Props {
  readonly models: readonly AdminModel[]
  readonly noticeDays: number
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The markup of all models of a maker, or of all models, in one act. */
export function MarkupsDialog({ models, noticeDays, isOpen, onClose }: Props) {
  const [vendor, setVendor] = useState('')
  const vendors = [...new Set(models.map((model) => model.vendor))].toSorted()
  const chosen = models.filter((model) => vendor === '' || model.vendor === vendor)
  return (
    <ConfirmedFormDialog<MarkupInput>
      isOpen={isOpen}
      onClose={onClose}
      title={t('Multiplicador de vários modelos')}
      confirmationTitle={t('Confirmar a mudança')}
      renderForm={(form) => (
        <div className="grid gap-5">
          <Field label={t('De quais modelos')}>
            {(control) => (
              <Select
                {...control}
                value={vendor}
                onChange={(event) => setVendor(event.target.value)}
              >
                <option value="">{t('Todos')}</option>
                {vendors.map((each) => (
                  <option key={each} value={each}>
                    {makerWords(each)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <MarkupForm models={chosen} noticeDays={noticeDays} {...form} />
        </div>
      )}
      renderConfirmation={(asked) => (
        <Confirmation models={chosen} vendor={vendor === '' ? null : vendor} {...asked} />
      )}
    />
  )
}

function Confirmation(props: {
  readonly models: readonly AdminModel[]
  readonly vendor: string | null
  readonly input: MarkupInput
  readonly onBack: () => void
  readonly onDone: () => void
}) {
  const { models, vendor, input, onBack, onDone } = props
  const effect = useFirstFocus<HTMLParagraphElement>()
  const { markup_multiplier: markup, starts_at: startsAt } = input
  const changed = models.filter((model) => lastMarkup(model) !== markup)
  const rises = changed.filter((model) => lastMarkup(model) < markup)
  const schedule = useAct({
    act: (_input, once) => api.post('/admin/markups', { ...input, vendor }, { once }),
    doneText: ({ changes }) =>
      t('Multiplicador mudado ou marcado: {models}.', {
        models: counted(changes.length, t('modelo'), t('modelos')),
      }),
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
        {t('{models} de {vendor}: {markup}', {
          models: counted(changed.length, t('modelo'), t('modelos')),
          vendor: vendor ?? t('todos os fabricantes'),
          markup: markupWords(markup),
        })}
        {startsAt === undefined
          ? t(' agora')
          : t(' em {startsAt}', { startsAt: dateTime(startsAt) })}
        .
      </p>
      <Notice tone={rises.length > 0 ? 'warning' : 'info'}>
        {rises.length > 0
          ? t(
              'Em até um minuto, quem usou um destes modelos nos últimos 90 dias recebe um e-mail por modelo com o preço novo. Cancelar depois não desfaz o aviso.',
            )
          : t('É uma redução: vale sem aviso, e ninguém recebe e-mail.')}
      </Notice>
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
