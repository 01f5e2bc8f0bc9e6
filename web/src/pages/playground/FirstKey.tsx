import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { API_KEYS } from '../keys/key-queries.ts'
import { t } from '../../language/t.ts'

/**
 * Makes a key for the playground, whose secret nobody needs: the session says with which key it pays. It can only call
 * models.
 */
export function FirstKey() {
  const queries = useQueryClient()
  const make = useSubmit({
    mutationFn: (_input: void, once) =>
      api.post('/api-keys', { name: t('Playground'), scope: 'calls', model_ids: ['*'] }, { once }),
    onSuccess: () => queries.invalidateQueries({ queryKey: API_KEYS }),
  })
  return (
    <>
      <Button isBusy={make.isPending} onClick={() => make.mutate()}>
        {t('Começar com uma chave nova')}
      </Button>
      {make.error && (
        <Notice tone="danger" role="alert">
          {explainError(make.error)}
        </Notice>
      )}
    </>
  )
}
