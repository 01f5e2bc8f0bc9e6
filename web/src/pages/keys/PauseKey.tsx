import { useQueryClient } from '@tanstack/react-query'
import { Pause, Play } from 'lucide-react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { useToast } from '../../components/Toast.tsx'
import { API_KEYS, type ApiKey } from './key-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

/** Pauses a key, or resumes it with one click; an operator's pause is not the customer's to lift. */
export function PauseKey({ apiKey: { id, name, paused_reason } }: { readonly apiKey: ApiKey }) {
  const queries = useQueryClient()
  const toast = useToast()
  const isPaused = paused_reason !== null
  const turn = useSubmit({
    mutationFn: () =>
      isPaused
        ? api.post('/api-keys/{id}/resume', undefined, { path: { id } })
        : api.post('/api-keys/{id}/pause', undefined, { path: { id } }),
    onSuccess: async () => {
      toast(isPaused ? t('Chave retomada.') : t('Chave pausada.'))
      await queries.invalidateQueries({ queryKey: API_KEYS })
    },
    onError: (error) => toast(explainError(error), 'danger'),
  })
  if (paused_reason === 'operator') return null
  const text = isPaused ? t('Retomar') : t('Pausar')
  const Icon = isPaused ? Play : Pause
  return (
    <Button
      variant="quiet"
      className="px-3"
      aria-label={`${text} ${name}`}
      isBusy={turn.isPending}
      onClick={() => turn.mutate()}
      icon={<Icon aria-hidden="true" className="size-4" />}
    >
      {text}
    </Button>
  )
}
