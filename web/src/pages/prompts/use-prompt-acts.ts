import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useToast } from '../../components/Toast.tsx'
import { PROMPTS, promptQuery, type Prompt } from './prompt-queries.ts'
import { explainPromptError } from './prompt-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

export function useClonePrompt(onCloned?: (copy: Prompt) => void) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: ({ id }: Prompt, once) =>
      api.post('/me/prompts/{id}/clone', undefined, { path: { id }, once }),
    async onSuccess(copy) {
      queries.setQueryData(promptQuery(copy.id).queryKey, copy)
      toast(t('Cópia criada: {name}.', { name: copy.name }))
      onCloned?.(copy)
      await queries.invalidateQueries({ queryKey: [...PROMPTS, 'list'] })
    },
    onError: (error) => toast(explainPromptError(error), 'danger'),
  })
}

export function useDeletePrompt(onDeleted: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: ({ id }: Prompt) => api.delete('/me/prompts/{id}', { path: { id } }),
    async onSuccess() {
      toast(t('Prompt excluído.'))
      onDeleted()
      await queries.invalidateQueries({ queryKey: [...PROMPTS, 'list'] })
    },
  })
}
