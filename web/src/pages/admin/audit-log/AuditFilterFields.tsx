import { useState } from 'react'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { Select } from '../../../components/Select.tsx'
import { ACTION_GROUPS } from './action-words.ts'
import type { AuditFilters } from './audit-log-queries.ts'

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
      aria-label="Filtrar os atos"
      className="mb-5 grid grid-cols-2 items-start gap-3 lg:grid-cols-[1fr_1.5fr_auto_auto]"
    >
      <Field label="Ato" className="max-lg:col-span-2">
        {(control) => (
          <Select
            {...control}
            value={ato}
            onChange={(event) => onChange({ ato: event.target.value })}
          >
            <option value="">Todos</option>
            {ACTION_GROUPS.map(([beginning, text]) => (
              <option key={beginning} value={beginning}>
                {text}
              </option>
            ))}
            {ato !== '' && !ACTION_GROUPS.some(([beginning]) => beginning === ato) && (
              <option value={ato}>{ato}</option>
            )}
          </Select>
        )}
      </Field>
      <CustomerField key={filters.cliente} value={filters.cliente} onChange={onChange} />
      <Field label="De">
        {(control) => (
          <Input
            {...control}
            type="date"
            value={de}
            {...(ate === '' ? {} : { max: ate })}
            onChange={(event) => onChange({ de: event.target.value })}
          />
        )}
      </Field>
      <Field label="Até">
        {(control) => (
          <Input
            {...control}
            type="date"
            value={ate}
            {...(de === '' ? {} : { min: de })}
            onChange={(event) => onChange({ ate: event.target.value })}
          />
        )}
      </Field>
    </div>
  )
}

/** Asked for when it is written to the end, not at each letter. */
function CustomerField({ value, onChange }: { value: string; onChange: Props['onChange'] }) {
  const [text, setText] = useState(value)
  const [fault, setFault] = useState<string>()
  const done = (): void => {
    const id = text.trim()
    const isWhole = id === '' || ID.test(id)
    setFault(isWhole ? undefined : 'Cole o id inteiro, como na página do cliente.')
    if (isWhole && id !== value) onChange({ cliente: id })
  }
  return (
    <Field label="Id do cliente" error={fault} className="max-lg:col-span-2">
      {(control) => (
        <Input
          {...control}
          value={text}
          maxLength={36}
          placeholder="Todos"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={done}
          onKeyDown={(event) => {
            if (event.key === 'Enter') done()
          }}
        />
      )}
    </Field>
  )
}
