import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { keysToChooseQuery, modelsToChooseQuery, type ChargeFilters } from './usage-queries.ts'

interface Props {
  readonly filters: ChargeFilters
  readonly onChange: (change: Partial<ChargeFilters>) => void
}

export function ChargeFilterFields({ filters, onChange }: Props) {
  const models = useQuery(modelsToChooseQuery).data ?? []
  const keys = useQuery(keysToChooseQuery).data?.keys ?? []
  const { modelo, chave, de, ate } = filters
  return (
    <div
      role="search"
      aria-label="Filtrar as chamadas"
      className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-5"
    >
      <Field label="Modelo">
        {(control) => (
          <Select
            {...control}
            value={modelo}
            onChange={(event) => onChange({ modelo: event.target.value })}
          >
            <option value="">Todos</option>
            {models.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            {modelo !== '' && !models.some(({ id }) => id === modelo) && (
              <option value={modelo}>{modelo}</option>
            )}
          </Select>
        )}
      </Field>
      <Field label="Chave">
        {(control) => (
          <Select
            {...control}
            value={chave}
            onChange={(event) => onChange({ chave: event.target.value })}
          >
            <option value="">Todas</option>
            {keys.map(({ api_key_id: id, name, last_four }) => (
              <option key={id} value={id}>
                {name} (…{last_four})
              </option>
            ))}
            {chave !== '' && !keys.some(({ api_key_id: id }) => id === chave) && (
              <option value={chave}>{chave}</option>
            )}
          </Select>
        )}
      </Field>
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
      <SessionField key={filters.sessao} value={filters.sessao} onChange={onChange} />
    </div>
  )
}

/** Asked for when it is written to the end, not at each letter. */
function SessionField({ value, onChange }: { value: string; onChange: Props['onChange'] }) {
  const [text, setText] = useState(value)
  const done = (): void => {
    if (text.trim() !== value) onChange({ sessao: text.trim() })
  }
  return (
    <Field label="Sessão" className="max-md:col-span-2">
      {(control) => (
        <Input
          {...control}
          value={text}
          maxLength={80}
          placeholder="Todas"
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
