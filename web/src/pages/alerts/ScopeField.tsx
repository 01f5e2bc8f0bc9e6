import { useQuery } from '@tanstack/react-query'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { keysToChooseQuery } from '../usage/usage-queries.ts'
import { ownTeamsQuery } from './alert-queries.ts'

interface Props {
  /** `chave:<id>`, `equipe:<id>`, or empty for the whole account. */
  readonly value: string
  readonly onChange: (value: string) => void
}

export function ScopeField({ value, onChange }: Props) {
  const keys = useQuery(keysToChooseQuery).data?.keys.filter(({ status }) => status !== 'revoked')
  const teams = useQuery(ownTeamsQuery).data ?? []
  return (
    <Field label="Vale para">
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">A conta inteira</option>
          {keys?.map(({ api_key_id: id, name }) => (
            <option key={id} value={`chave:${id}`}>
              Só a chave {name}
            </option>
          ))}
          {teams.map(({ id, name }) => (
            <option key={id} value={`equipe:${id}`}>
              Só a equipe {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
