import { useQuery } from '@tanstack/react-query'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { keysToChooseQuery } from '../usage/usage-queries.ts'
import { ownTeamsQuery } from './alert-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  /** `chave:<id>`, `equipe:<id>`, or empty for the whole account. */
  readonly value: string
  readonly onChange: (value: string) => void
}

export function ScopeField({ value, onChange }: Props) {
  const keys = useQuery(keysToChooseQuery).data?.keys.filter(({ status }) => status !== 'revoked')
  const teams = useQuery(ownTeamsQuery).data ?? []
  return (
    <Field label={t('Vale para')}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{t('A conta inteira')}</option>
          {keys?.map(({ api_key_id: id, name }) => (
            <option key={id} value={`chave:${id}`}>
              <Trans id="Só a chave {name}" values={{ name }} />
            </option>
          ))}
          {teams.map(({ id, name }) => (
            <option key={id} value={`equipe:${id}`}>
              <Trans id="Só a equipe {name}" values={{ name }} />
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
