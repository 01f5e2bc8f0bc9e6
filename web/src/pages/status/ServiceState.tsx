import { CircleAlert, CircleCheck, LoaderCircle } from 'lucide-react'
import type { Answer } from '../../api/client.ts'
import { classNames } from '../../lib/class-names.ts'

export type Incident = Answer<'get', '/incidents/active'>['incidents'][number]

interface ServiceStateProps {
  isUp: boolean
  isChecking: boolean
  /** Undefined while loading, or when the server does not answer. */
  incidents: readonly Incident[] | undefined
}

export function ServiceState({ isUp, isChecking, incidents }: ServiceStateProps) {
  const [tone, text] = stateOf({ isUp, isChecking, incidents })
  const Icon = { good: CircleCheck, bad: CircleAlert, waiting: LoaderCircle }[tone]
  return (
    <p
      role="status"
      className={classNames(
        'flex items-center gap-3 rounded-card px-5 py-4 text-lg font-semibold',
        tone === 'good' && 'bg-success-soft text-success',
        tone === 'bad' && 'bg-warning-soft text-warning',
        tone === 'waiting' && 'bg-sunken text-muted',
      )}
    >
      <Icon aria-hidden="true" className="size-6 shrink-0" />
      {text}
    </p>
  )
}

function stateOf(props: ServiceStateProps): ['good' | 'bad' | 'waiting', string] {
  if (props.isChecking) return ['waiting', 'Verificando…']
  if (!props.isUp) return ['bad', 'A Catraca não está respondendo. Já estamos verificando.']
  const count = props.incidents?.length ?? 0
  if (count === 0) return ['good', 'Tudo funcionando']
  return ['bad', count === 1 ? 'Um incidente em andamento' : `${count} incidentes em andamento`]
}
