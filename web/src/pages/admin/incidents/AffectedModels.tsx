import { useQuery } from '@tanstack/react-query'
import { Checkbox } from '../../../components/Checkbox.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { adminModelsQuery } from '../models/admin-model-queries.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

/** The server derives the affected vendors from the models. */
export function AffectedModels({ value, onChange }: Props) {
  const found = useQuery(adminModelsQuery)
  if (found.isError && !found.data) return <ErrorState error={found.error} />
  if (!found.data) return <SkeletonRows label={t('Carregando os modelos')} />
  return (
    <fieldset className="mt-1 max-h-56 overflow-y-auto rounded-lg border border-line-strong px-3 py-2">
      <legend className="sr-only">{t('Modelos afetados')}</legend>
      {found.data.models.map(({ id }) => (
        <div key={id}>
          <Checkbox
            label={<span className="break-all">{id}</span>}
            checked={value.includes(id)}
            onChange={() =>
              onChange(value.includes(id) ? value.filter((each) => each !== id) : [...value, id])
            }
          />
        </div>
      ))}
    </fieldset>
  )
}
