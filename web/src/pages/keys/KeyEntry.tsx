import { Pencil, Trash2 } from 'lucide-react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { usd } from '../../format/usd.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import type { ApiKey } from './key-queries.ts'
import { BUDGET_PERIOD, KEY_STATUS } from './key-words.ts'

interface KeyEntryProps {
  readonly apiKey: ApiKey
  readonly isChosen: boolean
  /** Undefined where there is nothing left to do with it. */
  readonly onChoose: ((isChosen: boolean) => void) | undefined
  readonly onChange: () => void
  readonly onRevoke: () => void
}

export function KeyEntry({ apiKey, isChosen, onChoose, onChange, onRevoke }: KeyEntryProps) {
  const { text, tone } = KEY_STATUS[apiKey.status]
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-2 py-4 first:pt-0 last:pb-0 lg:grid-cols-[auto_minmax(0,1fr)_14rem_14rem]">
      <span className="-my-2 -ml-2 flex size-10 items-center justify-center">
        {onChoose && (
          <input
            type="checkbox"
            aria-label={`Escolher ${apiKey.name}`}
            checked={isChosen}
            onChange={(event) => onChoose(event.target.checked)}
            className="size-5 accent-accent"
          />
        )}
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium break-words">{apiKey.name}</span>
          <code className="text-muted">sk-svc-…{apiKey.last_four}</code>
          <Badge tone={tone}>{text}</Badge>
          {apiKey.team_id !== null && <Badge>Equipe</Badge>}
        </p>
        <p className="mt-1 text-sm text-muted">
          <LastUse apiKey={apiKey} />
        </p>
        <p className="text-sm text-muted">{limitsOf(apiKey)}</p>
      </div>
      <div className="col-start-2 lg:col-start-3">
        <Budget budget={apiKey.budget} />
      </div>
      {onChoose && (
        <div className="col-start-2 -my-2 -ml-3 flex items-start lg:col-start-4 lg:ml-0 lg:justify-end">
          <Button
            variant="quiet"
            className="px-3"
            aria-label={`Alterar ${apiKey.name}`}
            onClick={onChange}
            icon={<Pencil aria-hidden="true" className="size-4" />}
          >
            Alterar
          </Button>
          <Button
            variant="quiet"
            className="px-3"
            aria-label={`Revogar ${apiKey.name}`}
            onClick={onRevoke}
            icon={<Trash2 aria-hidden="true" className="size-4" />}
          >
            Revogar
          </Button>
        </div>
      )}
    </li>
  )
}

function LastUse({ apiKey }: Pick<KeyEntryProps, 'apiKey'>) {
  if (apiKey.revoked_at !== null)
    return (
      <>
        Revogada em <DateTime instant={apiKey.revoked_at} />
      </>
    )
  return (
    <>
      {apiKey.last_used_at === null ? (
        'Nunca usada'
      ) : (
        <>
          Último uso: <DateTime instant={apiKey.last_used_at} />
        </>
      )}
      {apiKey.expires_at !== null && (
        <>
          {' '}
          · {apiKey.status === 'expired' ? 'venceu' : 'vale até'}{' '}
          <DateTime instant={apiKey.expires_at} isDateOnly />
        </>
      )}
    </>
  )
}

function limitsOf({ model_ids, requests_per_minute, tokens_per_minute, ip_allowlist }: ApiKey) {
  return [
    model_ids === null ? 'Todos os modelos' : counted(model_ids.length, 'modelo', 'modelos'),
    `${wholeNumber(requests_per_minute)} chamadas/min`,
    ...(tokens_per_minute === null ? [] : [`${wholeNumber(tokens_per_minute)} tokens/min`]),
    ...(ip_allowlist === null
      ? []
      : [counted(ip_allowlist.length, 'endereço permitido', 'endereços permitidos')]),
  ].join(' · ')
}

function Budget({ budget }: Pick<ApiKey, 'budget'>) {
  if (budget === null) return <p className="text-sm text-muted">Sem orçamento</p>
  const { limit_usd, spent_usd, period } = budget
  const share = limit_usd > 0 ? Math.min(100, (spent_usd / limit_usd) * 100) : 100
  return (
    <div className="max-w-sm text-sm">
      <p className="tabular-nums">
        {usd(spent_usd)}{' '}
        <span className="text-muted">
          de {usd(limit_usd)} <span className="whitespace-nowrap">{BUDGET_PERIOD[period]}</span>
        </span>
      </p>
      {/* The words above say the same; no width in a style attribute, which the security policy refuses. */}
      <svg aria-hidden="true" className="mt-1.5 h-1.5 w-full rounded-full bg-sunken">
        <rect
          width={`${share}%`}
          height="100%"
          rx="3"
          className={share >= 90 ? 'fill-danger' : 'fill-accent'}
        />
      </svg>
    </div>
  )
}
