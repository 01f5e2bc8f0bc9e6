import { DateRangeFields } from '../../components/DateRangeFields.tsx'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { WholeTextField } from '../../components/WholeTextField.tsx'
import { ModelAndKeyFields } from './ModelAndKeyFields.tsx'
import type { ChargeFilters } from './usage-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly filters: ChargeFilters
  readonly onChange: (change: Partial<ChargeFilters>) => void
}

export function ChargeFilterFields({ filters, onChange }: Props) {
  const { modelo, chave, situacao, de, ate } = filters
  return (
    <div
      role="search"
      aria-label={t('Filtrar as chamadas')}
      className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6"
    >
      <ModelAndKeyFields modelo={modelo} chave={chave} onChange={onChange} />
      <Field label={t('Situação')}>
        {(control) => (
          <Select
            {...control}
            value={situacao}
            onChange={(event) => onChange({ situacao: event.target.value })}
          >
            <option value="">{t('Todas')}</option>
            <option value="cobrada">{t('Cobradas')}</option>
            <option value="falha">{t('Com falha, sem custo')}</option>
            {!['', 'cobrada', 'falha'].includes(situacao) && (
              <option value={situacao}>{situacao}</option>
            )}
          </Select>
        )}
      </Field>
      <DateRangeFields de={de} ate={ate} onChange={onChange} />
      <WholeTextField
        key={filters.sessao}
        label={t('Sessão')}
        placeholder={t('Todas')}
        maxLength={80}
        value={filters.sessao}
        onChange={(sessao) => onChange({ sessao })}
      />
    </div>
  )
}
