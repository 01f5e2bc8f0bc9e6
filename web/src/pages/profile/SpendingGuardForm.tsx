import { useQueryClient } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { useToast } from '../../components/Toast.tsx'
import { formText } from '../../lib/form-text.ts'
import { spendingGuardQuery, type SpendingGuard } from './spending-guard-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const OFF = 'off'
const FACTORS = [3, 5, 10, 20, 50]

export function SpendingGuardForm({ guard }: { readonly guard: SpendingGuard }) {
  const queries = useQueryClient()
  const toast = useToast()
  const save = useSubmit({
    mutationFn: (body: SpendingGuard) => api.put('/me/spending-guard', body),
    onSuccess(saved) {
      queries.setQueryData(spendingGuardQuery.queryKey, saved)
      toast(t('Regra salva.'))
    },
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const factor = formText(fields, 'factor')
    save.mutate({
      factor: factor === OFF ? null : Number(factor),
      floor_brl: Number(formText(fields, 'floor_brl')),
    })
  }
  const factors = new Set([...FACTORS, ...(guard.factor === null ? [] : [guard.factor])])
  return (
    <form onSubmit={submit} className="grid gap-5">
      <Field label={t('Pausar a chave')}>
        {(control) => (
          <Select {...control} name="factor" defaultValue={guard.factor ?? OFF}>
            <option value={OFF}>{t('Nunca')}</option>
            {[...factors]
              .toSorted((one, other) => one - other)
              .map((factor) => (
                <option key={factor} value={factor}>
                  <Trans id="Com {factor} vezes o gasto habitual" values={{ factor }} />
                </option>
              ))}
          </Select>
        )}
      </Field>
      <Field
        label={t('Só a partir deste gasto, em reais por hora')}
        hint={t('Assim, um primeiro dia de uso intenso não pausa a chave.')}
      >
        {(control) => (
          <Input
            {...control}
            name="floor_brl"
            type="number"
            min={1}
            max={1_000_000}
            step={1}
            required
            defaultValue={guard.floor_brl}
          />
        )}
      </Field>
      {save.error && (
        <Notice tone="danger" role="alert">
          {explainError(save.error)}
        </Notice>
      )}
      <Button type="submit" className="justify-self-start" isBusy={save.isPending}>
        {t('Salvar regra')}
      </Button>
    </form>
  )
}
