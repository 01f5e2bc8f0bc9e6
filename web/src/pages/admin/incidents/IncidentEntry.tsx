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

export function IncidentEntry({ incident }: { readonly incident: Incident }) {
  const [isUpdating, setUpdating] = useState(false)
  const [isResolving, setResolving] = useState(false)
  const { title, severity, status, source, updates } = incident
  const { text, tone } = SEVERITY_WORDS[severity]
  const affected = [...incident.providers, ...incident.models]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 font-semibold break-words">{title}</h2>
        <Badge tone={tone}>{text}</Badge>
        {status === 'resolved' && <Badge tone="success">Resolvido</Badge>}
      </div>
      <p className="text-sm break-words whitespace-pre-line">{incident.message}</p>
      <p className="text-sm text-muted">
        {source === 'breaker' ? 'Aberto pelo disjuntor' : 'Aberto por um operador'},{' '}
        <DateTime instant={incident.opened_at} />
        {incident.resolved_at !== null && (
          <>
            {' '}
            · resolvido, <DateTime instant={incident.resolved_at} />
          </>
        )}
        {affected.length > 0 && ` · Atinge: ${affected.join(', ')}`}
      </p>
      <Disclosure summary={`História: ${counted(updates.length, 'passo', 'passos')}`}>
        <ol className="mt-1 grid gap-2 border-l-2 border-line pl-4">
          {updates.map((update) => (
            <li key={`${update.created_at} ${update.status}`}>
              <span className="font-medium">{UPDATE_WORDS[update.status]}</span>{' '}
              <span className="text-muted">
                <DateTime instant={update.created_at} /> · {SEVERITY_WORDS[update.severity].text}
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
          <Button aria-label={`Atualizar ${title}`} onClick={() => setUpdating(true)}>
            Atualizar
          </Button>
          <Button
            variant="secondary"
            aria-label={`Resolver ${title}`}
            onClick={() => setResolving(true)}
          >
            Resolver
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
