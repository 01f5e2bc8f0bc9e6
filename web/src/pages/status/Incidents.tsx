import { Badge, type BadgeTone } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Incident } from './ServiceState.tsx'

const SEVERITIES: Record<Incident['severity'], readonly [BadgeTone, string]> = {
  minor: ['neutral', 'Leve'],
  major: ['warning', 'Grave'],
  critical: ['danger', 'Crítico'],
}

export function Incidents({ incidents }: { incidents: readonly Incident[] }) {
  if (incidents.length === 0) return null
  return (
    <Card title="Incidentes em andamento">
      <ul className="flex flex-col gap-5">
        {incidents.map((incident) => {
          const [tone, severity] = SEVERITIES[incident.severity]
          const affected = [...incident.providers, ...incident.models]
          return (
            <li key={incident.id} className="border-b border-line pb-5 last:border-0 last:pb-0">
              <div className="flex flex-wrap items-center gap-2">
                <h3 className="font-semibold">{incident.title}</h3>
                <Badge tone={tone}>{severity}</Badge>
              </div>
              <p className="mt-1 whitespace-pre-line">{incident.message}</p>
              <p className="mt-2 text-sm text-muted">
                Desde <DateTime instant={incident.started_at} />
                {affected.length > 0 && ` · Atinge: ${affected.join(', ')}`}
              </p>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
