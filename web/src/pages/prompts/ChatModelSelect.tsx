import { useQuery } from '@tanstack/react-query'
import type { ControlProps } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { keyModelsQuery, type Model } from '../keys/key-queries.ts'
import { makerWords } from '../models/MakerMark.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly control: ControlProps
  /** `''`: the option `emptyText`. */
  readonly value: string
  readonly emptyText: string
  readonly onChange: (modelId: string) => void
}

/** The catalog's chat models, by vendor. */
export function ChatModelSelect({ control, value, emptyText, onChange }: Props) {
  const { data: models, isError } = useQuery({ ...keyModelsQuery, select: chatModels })
  const isKnown = value === '' || models?.some(({ id }) => id === value)
  return (
    <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{emptyText}</option>
      {!isKnown && (
        <option value={value}>{models ? t('{value} (fora do catálogo)', { value }) : value}</option>
      )}
      {isError && (
        <option disabled>{t('Não deu para carregar os modelos: atualize a página')}</option>
      )}
      {[...byMaker(choicesOf(models ?? [], value))].map(([maker, made]) => (
        <optgroup key={maker} label={makerWords(maker)}>
          {made.map(({ id, display_name }) => (
            <option key={id} value={id}>
              {display_name}
            </option>
          ))}
        </optgroup>
      ))}
    </Select>
  )
}

function chatModels(models: readonly Model[]): Model[] {
  return models.filter(({ category }) => category === 'llm')
}

/** Models that no provider serves are left out, unless one was chosen before. */
function choicesOf(models: readonly Model[], value: string): Model[] {
  return models.filter(({ id, available }) => available || id === value)
}

function byMaker(models: readonly Model[]): Map<string, Model[]> {
  const makers = new Map<string, Model[]>()
  for (const model of models) {
    const made = makers.get(model.upstream)
    if (made) made.push(model)
    else makers.set(model.upstream, [model])
  }
  return makers
}
