import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { useAct } from '../use-act.ts'
import { useFirstFocus } from '../use-first-focus.ts'
import { INCIDENTS_CHANGE, type IncidentInput } from './incident-queries.ts'
import { explainIncidentError, SEVERITY_WORDS } from './incident-words.ts'
import { IncidentForm } from './IncidentForm.tsx'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Written first, then shown as customers will read it, then published. */
export function OpenIncident({ isOpen, onClose }: Props) {
  const [written, setWritten] = useState<IncidentInput>()
  const [isAsking, setAsking] = useState(false)
  const close = (): void => {
    setWritten(undefined)
    setAsking(false)
    onClose()
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={isAsking ? 'Publicar o incidente?' : 'Abrir incidente'}
    >
      {written && isAsking ? (
        <Confirmation input={written} onBack={() => setAsking(false)} onDone={close} />
      ) : (
        <IncidentForm
          written={written}
          onCancel={close}
          onWritten={(input) => {
            setWritten(input)
            setAsking(true)
          }}
        />
      )}
    </Dialog>
  )
}

function Confirmation(props: {
  readonly input: IncidentInput
  readonly onBack: () => void
  readonly onDone: () => void
}) {
  const { input, onBack, onDone } = props
  const effect = useFirstFocus<HTMLParagraphElement>()
  const { text, tone } = SEVERITY_WORDS[input.severity ?? 'major']
  const open = useAct({
    act: () => api.post('/admin/incidents', input),
    told: () => 'Incidente aberto: já está na página Status.',
    onDone,
    changes: INCIDENTS_CHANGE,
  })
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!open.isPending) open.mutate()
      }}
    >
      <p ref={effect} tabIndex={-1} className="text-sm text-muted outline-none">
        Todos veem isto na página Status em segundos, também quem não é cliente:
      </p>
      <div className="rounded-lg border border-line p-4">
        <p className="flex flex-wrap items-center gap-2 font-semibold break-words">
          {input.title} <Badge tone={tone}>{text}</Badge>
        </p>
        <p className="mt-1 text-sm break-words whitespace-pre-line">{input.message}</p>
        {(input.models ?? []).length > 0 && (
          <p className="mt-2 text-sm text-muted">Atinge: {input.models?.join(', ')}</p>
        )}
      </div>
      {open.error && (
        <Notice tone="danger" role="alert">
          {explainIncidentError(open.error)}
        </Notice>
      )}
      <div className="flex flex-col-reverse gap-3 sm:flex-row sm:justify-end">
        <Button variant="secondary" onClick={onBack}>
          Voltar
        </Button>
        <Button type="submit" isBusy={open.isPending}>
          Publicar incidente
        </Button>
      </div>
    </form>
  )
}
