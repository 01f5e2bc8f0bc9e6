import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Version } from './prompt-queries.ts'

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
        <span className="text-sm font-semibold">Versão {number}</span>
        {isCurrent && <Badge tone="success">atual</Badge>}
        {isShown && <Badge tone="accent">comparada</Badge>}
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
              aria-label={`O que mudou na versão ${number}`}
              onClick={onCompare}
            >
              O que mudou
            </Button>
          )}
          {onRestore && (
            <Button
              variant="quiet"
              className="px-3"
              aria-label={`Restaurar a versão ${number}`}
              onClick={onRestore}
            >
              Restaurar
            </Button>
          )}
        </div>
      )}
    </li>
  )
}
