import { Trash2 } from 'lucide-react'
import { Button } from '../../components/Button.tsx'
import { KeyBudget } from '../keys/KeyBudget.tsx'
import { KeyFacts } from '../keys/KeyFacts.tsx'
import type { TeamKey } from './team-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface TeamKeyEntryProps {
  readonly teamKey: TeamKey
  /** Undefined for a former member. */
  readonly maker: string | undefined
  readonly onRevoke: () => void
}

export function TeamKeyEntry({ teamKey, maker, onRevoke }: TeamKeyEntryProps) {
  return (
    <li className="grid gap-x-4 gap-y-2 py-4 first:pt-0 last:pb-0 lg:grid-cols-[minmax(0,1fr)_14rem_8rem]">
      <div className="min-w-0">
        <KeyFacts apiKey={teamKey} />
        <p className="text-sm text-muted">
          <Trans
            id="Criada por {maker}"
            values={{ maker: maker ?? t('quem não está mais na equipe') }}
          />
        </p>
      </div>
      <KeyBudget budget={teamKey.budget} />
      {teamKey.status !== 'revoked' && (
        <div className="-my-2 -ml-3 flex items-start lg:ml-0 lg:justify-end">
          <Button
            variant="quiet"
            className="px-3"
            aria-label={t('Revogar {name}', { name: teamKey.name })}
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
