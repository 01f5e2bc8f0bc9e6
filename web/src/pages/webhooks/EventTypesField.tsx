import { useQuery } from '@tanstack/react-query'
import { Checkbox } from '../../components/Checkbox.tsx'
import { eventWords } from './event-words.ts'
import { eventTypesQuery } from './webhook-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** `null`: all types, including future ones. */
  readonly value: readonly string[] | null
  readonly onChange: (value: readonly string[] | null) => void
}

export function EventTypesField({ value, onChange }: Props) {
  const types = useQuery(eventTypesQuery).data?.event_types ?? []
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 text-sm font-medium">{t('O que enviar')}</legend>
      <Checkbox
        label={t('Todos os eventos, inclusive os futuros')}
        checked={value === null}
        onChange={() => onChange(value === null ? [] : null)}
      />
      {value !== null && (
        <ul className="grid max-h-64 gap-x-4 overflow-y-auto rounded-lg border border-line p-3 sm:grid-cols-2">
          {types.map((type) => (
            <li key={type}>
              <Checkbox
                label={
                  <span className="leading-tight">
                    {eventWords(type) ?? type}
                    <span className="block text-xs font-normal text-muted">{type}</span>
                  </span>
                }
                checked={value.includes(type)}
                onChange={() =>
                  onChange(
                    value.includes(type)
                      ? value.filter((each) => each !== type)
                      : types.filter((each) => each === type || value.includes(each)),
                  )
                }
              />
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  )
}
