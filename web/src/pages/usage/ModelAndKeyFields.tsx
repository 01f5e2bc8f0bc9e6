import { useQuery } from '@tanstack/react-query'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { keysToChooseQuery, modelsToChooseQuery } from './usage-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** As in the URL; empty: all. */
  readonly modelo: string
  readonly chave: string
  readonly onChange: (change: { modelo: string } | { chave: string }) => void
}

export function ModelAndKeyFields({ modelo, chave, onChange }: Props) {
  const models = useQuery(modelsToChooseQuery).data ?? []
  const keys = useQuery(keysToChooseQuery).data?.keys ?? []
  return (
    <>
      <Field label={t('Modelo')}>
        {(control) => (
          <Select
            {...control}
            value={modelo}
            onChange={(event) => onChange({ modelo: event.target.value })}
          >
            <option value="">{t('Todos')}</option>
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
      <Field label={t('Chave')}>
        {(control) => (
          <Select
            {...control}
            value={chave}
            onChange={(event) => onChange({ chave: event.target.value })}
          >
            <option value="">{t('Todas')}</option>
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
    </>
  )
}
