import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useToast } from '../../components/Toast.tsx'
import type { AutomaticTopUpInput } from './automatic-top-up-fields.ts'
import { automaticTopUpQuery } from './top-up-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

export function useAutomaticTopUp(onDone: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  const save = useSubmit({
    mutationFn: (body: AutomaticTopUpInput) => api.put('/topups/automatic', body),
    onSuccess(saved) {
      queries.setQueryData(automaticTopUpQuery.queryKey, saved)
      toast(t('Recarga automática ligada.'))
      onDone()
    },
  })
  const turnOff = useSubmit({
    mutationFn: () => api.delete('/topups/automatic'),
    onSuccess() {
      queries.setQueryData(automaticTopUpQuery.queryKey, null)
      toast(t('Recarga automática desligada.'))
      onDone()
    },
  })
  return { save, turnOff }
}
