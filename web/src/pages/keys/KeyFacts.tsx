import type { ReactNode } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { brl } from '../../format/brl.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import type { ApiKey } from './key-queries.ts'
import { CAP_FIELDS } from './key-fields.ts'
import { CAP_WORDS, KEY_SCOPE, KEY_STATUS, PAUSE_REASON } from './key-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface KeyFactsProps {
  readonly apiKey: ApiKey
  /** Placed beside the key's state. */
  readonly children?: ReactNode
}

/** A key's properties, last use and limits. */
export function KeyFacts({ apiKey, children }: KeyFactsProps) {
  const { text, tone } = KEY_STATUS()[apiKey.status]
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium break-words">{apiKey.name}</span>
        <code className="text-muted">sk-svc-…{apiKey.last_four}</code>
        <Badge tone={tone}>{text}</Badge>
        {children}
      </p>
      {apiKey.paused_reason !== null && (
        <p className="mt-1 text-sm">{PAUSE_REASON()[apiKey.paused_reason]}</p>
      )}
      <p className="mt-1 text-sm text-muted">
        <LastUse apiKey={apiKey} />
      </p>
      <p className="text-sm text-muted">{limitsOf(apiKey)}</p>
    </>
  )
}

function LastUse({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.revoked_at !== null)
    return (
      <>
        <Trans
          id="Revogada em {dateTime}"
          values={{ dateTime: <DateTime instant={apiKey.revoked_at} /> }}
        />
      </>
    )
  return (
    <>
      {apiKey.last_used_at === null ? (
        t('Nunca usada')
      ) : (
        <>
          <Trans
            id="Último uso: {dateTime}"
            values={{ dateTime: <DateTime instant={apiKey.last_used_at} /> }}
          />
        </>
      )}
      {apiKey.expires_at !== null && (
        <>
          {' '}
          · {apiKey.status === 'expired' ? t('venceu') : t('vale até')}{' '}
          <DateTime instant={apiKey.expires_at} isDateOnly />
        </>
      )}
    </>
  )
}

function limitsOf(key: ApiKey) {
  const { scope, model_ids, requests_per_minute, tokens_per_minute, ip_allowlist } = key
  return [
    ...(scope === 'calls' ? [] : [KEY_SCOPE()[scope].text]),
    model_ids === null
      ? t('Todos os modelos')
      : counted(model_ids.length, t('modelo'), t('modelos')),
    t('{requestsPerMinute} chamadas/min', {
      requestsPerMinute: wholeNumber(requests_per_minute),
    }),
    ...(tokens_per_minute === null ? [] : [`${wholeNumber(tokens_per_minute)} tokens/min`]),
    ...(key.calls_at_once === null
      ? []
      : [t('{callsAtOnce} ao mesmo tempo', { callsAtOnce: wholeNumber(key.calls_at_once) })]),
    ...(key.cache_seconds === null
      ? []
      : [t('respostas iguais por {seconds} s', { seconds: wholeNumber(key.cache_seconds) })]),
    ...(key.auto_cache ? [t('conversas marcadas para o cache')] : []),
    ...CAP_FIELDS.flatMap((field) => {
      const cap = key[field]
      return cap === null ? [] : [`${brl(cap)} ${CAP_WORDS()[field].text}`]
    }),
    ...(ip_allowlist === null
      ? []
      : [counted(ip_allowlist.length, t('endereço permitido'), t('endereços permitidos'))]),
  ].join(' · ')
}
