import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Version } from './prompt-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly version: Version
  readonly isCurrent: boolean
  /** The version that the comparison shows. */
  readonly isShown: boolean
  readonly onCompare?: () => void
  /** Undefined for the prompt's current text. */
  readonly onRestore?: () => void
}

export function VersionEntry({ version, isCurrent, isShown, onCompare, onRestore }: Props) {
  const { version: number, change_note, created_at } = version
  return (
    <li className="border-b border-line py-3 first:pt-0 last:border-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-2">
        <span className="text-sm font-semibold">
          <Trans id="Versão {number}" values={{ number }} />
        </span>
        {isCurrent && <Badge tone="success">{t('atual')}</Badge>}
        {isShown && <Badge tone="accent">{t('comparada')}</Badge>}
      </p>
      {change_note !== null && <p className="text-sm break-words">{change_note}</p>}
      <p className="text-xs text-muted">
        <DateTime instant={created_at} />
      </p>
      {(onCompare ?? onRestore) && (
        <div className="-mx-3 flex flex-wrap">
          {onCompare && (
            <Button
              variant="quiet"
              className="px-3"
              aria-label={t('O que mudou na versão {number}', { number })}
              onClick={onCompare}
            >
              {t('O que mudou')}
            </Button>
          )}
          {onRestore && (
            <Button
              variant="quiet"
              className="px-3"
              aria-label={t('Restaurar a versão {number}', { number })}
              onClick={onRestore}
            >
              {t('Restaurar')}
            </Button>
          )}
        </div>
      )}
    </li>
  )
}
