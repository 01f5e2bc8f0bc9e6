import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { counted } from '../../../format/number.ts'
import type { Incident } from './incident-queries.ts'
import { SEVERITY_WORDS, UPDATE_WORDS } from './incident-words.ts'
import { ResolveIncident } from './ResolveIncident.tsx'
import { UpdateIncident } from './UpdateIncident.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function IncidentEntry({ incident }: { readonly incident: Incident }) {
  const [isUpdating, setUpdating] = useState(false)
  const [isResolving, setResolving] = useState(false)
  const { title, severity, status, source, updates } = incident
  const { text, tone } = SEVERITY_WORDS()[severity]
  const affected = [...incident.providers, ...incident.models]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 font-semibold break-words">{title}</h2>
        <Badge tone={tone}>{text}</Badge>
        {status === 'resolved' && <Badge tone="success">{t('Resolvido')}</Badge>}
      </div>
      <p className="text-sm break-words whitespace-pre-line">{incident.message}</p>
      <p className="text-sm text-muted">
        {source === 'breaker' ? t('Aberto pelo disjuntor') : t('Aberto por um operador')},{' '}
        <DateTime instant={incident.opened_at} />
        {incident.resolved_at !== null && (
          <>
            {' '}
            <Trans
              id="· resolvido, {dateTime}"
              values={{ dateTime: <DateTime instant={incident.resolved_at} /> }}
            />
          </>
        )}
        {affected.length > 0 && t(' · Afeta: {affected}', { affected: affected.join(', ') })}
      </p>
      <Disclosure
        summary={t('Histórico: {updates}', {
          updates: counted(updates.length, t('atualização'), t('atualizações')),
        })}
      >
        <ol className="mt-1 grid gap-2 border-l-2 border-line pl-4">
          {updates.map((update) => (
            <li key={`${update.created_at} ${update.status}`}>
              <span className="font-medium">{UPDATE_WORDS()[update.status]}</span>{' '}
              <span className="text-muted">
                <DateTime instant={update.created_at} /> · {SEVERITY_WORDS()[update.severity].text}
              </span>
              {update.message !== null && (
                <p className="break-words whitespace-pre-line">{update.message}</p>
              )}
            </li>
          ))}
        </ol>
      </Disclosure>
      {status === 'open' && (
        <div className="flex flex-wrap gap-3">
          <Button aria-label={t('Atualizar {title}', { title })} onClick={() => setUpdating(true)}>
            {t('Atualizar')}
          </Button>
          <Button
            variant="secondary"
            aria-label={t('Resolver {title}', { title })}
            onClick={() => setResolving(true)}
          >
            {t('Resolver')}
          </Button>
        </div>
      )}
      <UpdateIncident incident={incident} isOpen={isUpdating} onClose={() => setUpdating(false)} />
      <ResolveIncident
        incident={incident}
        isOpen={isResolving}
        onClose={() => setResolving(false)}
      />
    </li>
  )
}
