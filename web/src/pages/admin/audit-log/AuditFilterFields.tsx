import { DateRangeFields } from '../../../components/DateRangeFields.tsx'
import { Field } from '../../../components/Field.tsx'
import { Select } from '../../../components/Select.tsx'
import { WholeTextField } from '../../../components/WholeTextField.tsx'
import { ACTION_GROUPS } from './action-words.ts'
import type { AuditFilters } from './audit-log-queries.ts'
import { t } from '../../../language/t.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Props {
  readonly filters: AuditFilters
  readonly onChange: (change: Partial<AuditFilters>) => void
}

export function AuditFilterFields({ filters, onChange }: Props) {
  const { ato, de, ate } = filters
  return (
    <div
      role="search"
      aria-label={t('Filtrar os atos')}
      className="mb-5 grid grid-cols-2 items-start gap-3 lg:grid-cols-[1fr_1.5fr_auto_auto]"
    >
      <Field label={t('Ato')} className="max-lg:col-span-2">
        {(control) => (
          <Select
            {...control}
            value={ato}
            onChange={(event) => onChange({ ato: event.target.value })}
          >
            <option value="">{t('Todos')}</option>
            {ACTION_GROUPS().map(([beginning, text]) => (
              <option key={beginning} value={beginning}>
                {text}
              </option>
            ))}
            {ato !== '' && !ACTION_GROUPS().some(([beginning]) => beginning === ato) && (
              <option value={ato}>{ato}</option>
            )}
          </Select>
        )}
      </Field>
      <WholeTextField
        key={filters.cliente}
        label={t('Id do cliente')}
        placeholder={t('Todos')}
        maxLength={36}
        value={filters.cliente}
        onChange={(cliente) => onChange({ cliente })}
        faultOf={(id) =>
          id === '' || ID.test(id) ? undefined : t('Cole o id inteiro, como na página do cliente.')
        }
        className="max-lg:col-span-2"
      />
      <DateRangeFields de={de} ate={ate} onChange={onChange} />
    </div>
  )
}
