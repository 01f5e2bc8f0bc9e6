import { useState, type SubmitEvent } from 'react'
import { Choice } from '../../../components/Choice.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import { calendarDay } from '../../../format/calendar-day.ts'
import { counted } from '../../../format/number.ts'
import { parseAmount } from '../../../format/parse-amount.ts'
import { typedAmount } from '../../../format/typed-amount.ts'
import type { AdminModel, MarkupInput } from './admin-model-queries.ts'
import { lastMarkup, markupWords } from './admin-model-words.ts'
import { dayOf, firstDay, startOf } from './markup-days.ts'
import { t } from '../../../language/t.ts'

interface Props {
  /** One, or several that get the same markup. */
  readonly models: readonly AdminModel[]
  readonly noticeDays: number
  /** The input of an earlier step, to be edited again. */
  readonly draft: MarkupInput | undefined
  readonly onReview: (input: MarkupInput) => void
  readonly onCancel: () => void
}

interface Faults {
  readonly markup?: string
  readonly day?: string
  readonly reason?: string
}

export function MarkupForm({ models, noticeDays, draft, onReview, onCancel }: Props) {
  const before = models.map(lastMarkup)
  const [markup, setMarkup] = useState(draft ? typedAmount(draft.markup_multiplier) : '')
  const [when, setWhen] = useState<'now' | 'day'>(
    draft && draft.starts_at === undefined ? 'now' : 'day',
  )
  const earliest = firstDay(noticeDays)
  const [day, setDay] = useState(draft?.starts_at ? dayOf(draft.starts_at) : earliest)
  const [reason, setReason] = useState(draft?.reason ?? '')
  const [faults, setFaults] = useState<Faults>({})
  const value = parseAmount(markup.replace(/^[×x]\s*/, ''), 4)
  const isRise = value !== undefined && before.some((each) => value > each)

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const found: Faults = {
      ...(value === undefined || value < 1 || value > 10
        ? { markup: t('Digite um número de 1 a 10, como 1,25.') }
        : before.every((each) => each === value) && {
            markup: t('Este já é o multiplicador. Digite outro.'),
          }),
      ...dayFault(when === 'now' ? undefined : day, isRise ? earliest : undefined, noticeDays),
      ...(reason.trim().length < 3 && { reason: t('Escreva o motivo, com ao menos 3 letras.') }),
    }
    setFaults(found)
    if (value === undefined || Object.keys(found).length > 0) return
    onReview({
      markup_multiplier: value,
      ...(when === 'now' ? {} : { starts_at: startOf(day) }),
      reason: reason.trim(),
    })
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Field
        label={t('Multiplicador novo')}
        hint={t('{word}: {before}. O preço dos clientes é o do provedor vezes este número.', {
          word: models.some(({ scheduled }) => scheduled.length > 0)
            ? t('Depois do que está marcado')
            : t('Agora'),
          before: rangeWords(before),
        })}
        error={faults.markup}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            autoComplete="off"
            maxLength={10}
            placeholder="1,25"
            value={markup}
            onChange={(event) => setMarkup(event.target.value)}
          />
        )}
      </Field>
      <Choice
        legend={t('A partir de quando')}
        value={when}
        onChange={setWhen}
        options={[
          { value: 'day', text: t('Em uma data'), hint: t('À meia-noite de Brasília') },
          { value: 'now', text: t('Agora'), hint: t('Só para reduzir') },
        ]}
      />
      {when === 'day' ? (
        <Field
          label={t('Data')}
          hint={t('Um aumento precisa de {noticeDays} de aviso: a partir de {earliest}.', {
            noticeDays: counted(noticeDays, t('dia'), t('dias')),
            earliest: calendarDay(earliest),
          })}
          error={faults.day}
        >
          {(control) => (
            <Input
              {...control}
              type="date"
              min={firstDay(0)}
              value={day}
              onChange={(event) => setDay(event.target.value)}
            />
          )}
        </Field>
      ) : (
        faults.day !== undefined && (
          <p role="alert" className="text-sm font-medium text-danger">
            {faults.day}
          </p>
        )
      )}
      <Field label={t('Motivo')} hint={t('Fica na auditoria.')} error={faults.reason}>
        {(control) => (
          <Input
            {...control}
            value={reason}
            maxLength={500}
            autoComplete="off"
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <FormEnd error={undefined} submitLabel={t('Conferir')} isBusy={false} onCancel={onCancel} />
    </form>
  )
}

function rangeWords(markups: readonly number[]): string {
  const ends = [Math.min(...markups), Math.max(...markups)]
  return [...new Set(ends)].map(markupWords).join('–')
}

/** `day` undefined: now; `earliest` undefined: not a rise. */
function dayFault(
  day: string | undefined,
  earliest: string | undefined,
  noticeDays: number,
): Pick<Faults, 'day'> | false {
  const isTooSoon = earliest !== undefined && (day === undefined || day < earliest)
  if (isTooSoon && noticeDays > 0)
    return {
      day: t(
        'É um aumento, e precisa de {noticeDays} de aviso. Escolha uma data a partir de {earliest}.',
        { noticeDays: counted(noticeDays, t('dia'), t('dias')), earliest: calendarDay(earliest) },
      ),
    }
  if (day === undefined) return false
  if (day === '' || day < firstDay(0)) return { day: t('Escolha uma data futura.') }
  return false
}
