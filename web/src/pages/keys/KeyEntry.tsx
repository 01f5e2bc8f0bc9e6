import { Pencil, Trash2 } from 'lucide-react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import type { ApiKey } from './key-queries.ts'
import { KeyBudget } from './KeyBudget.tsx'
import { KeyFacts } from './KeyFacts.tsx'
import { PauseKey } from './PauseKey.tsx'
import { t } from '../../language/t.ts'

interface KeyEntryProps {
  readonly apiKey: ApiKey
  readonly isChosen: boolean
  /** Undefined for a key that can no longer be changed. */
  readonly onChoose: ((isChosen: boolean) => void) | undefined
  readonly onChange: () => void
  readonly onRevoke: () => void
}

export function KeyEntry({ apiKey, isChosen, onChoose, onChange, onRevoke }: KeyEntryProps) {
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-2 py-4 first:pt-0 last:pb-0 lg:grid-cols-[auto_minmax(0,1fr)_14rem_14rem]">
      <span className="-my-2 -ml-2 flex size-10 items-center justify-center">
        {onChoose && (
          <input
            type="checkbox"
            aria-label={t('Escolher {name}', { name: apiKey.name })}
            checked={isChosen}
            onChange={(event) => onChoose(event.target.checked)}
            className="size-5 accent-accent"
          />
        )}
      </span>
      <div className="min-w-0">
        <KeyFacts apiKey={apiKey}>
          {apiKey.team_id !== null && <Badge>{t('Equipe')}</Badge>}
        </KeyFacts>
      </div>
      <div className="col-start-2 lg:col-start-3">
        <KeyBudget budget={apiKey.budget} />
      </div>
      {onChoose && (
        <div className="col-start-2 -my-2 -ml-3 flex flex-wrap items-start lg:col-start-4 lg:ml-0 lg:justify-end">
          <PauseKey apiKey={apiKey} />
          {apiKey.scope !== 'operator' && (
            <Button
              variant="quiet"
              className="px-3"
              aria-label={t('Alterar {name}', { name: apiKey.name })}
              onClick={onChange}
              icon={<Pencil aria-hidden="true" className="size-4" />}
            >
              {t('Alterar')}
            </Button>
          )}
          <Button
            variant="quiet"
            className="px-3"
            aria-label={t('Revogar {name}', { name: apiKey.name })}
            onClick={onRevoke}
            icon={<Trash2 aria-hidden="true" className="size-4" />}
          >
            {t('Revogar')}
          </Button>
        </div>
      )}
    </li>
  )
}
