/** Asks for the trial credit, with the CPF or CNPJ that it needs where the profile has none. */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useRef, useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field } from '../../components/Field.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { useToast } from '../../components/Toast.tsx'
import { brl } from '../../format/brl.ts'
import { maskTaxId } from '../../format/masks.ts'
import { formText } from '../../lib/form-text.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { runwayQuery } from '../home/home-queries.ts'
import { API_KEYS } from '../keys/key-queries.ts'
import { faultOf } from '../profile/person-fields.ts'
import { profileQuery } from '../profile/profile-queries.ts'
import { trialCreditQuery, type TrialCredit } from './trial-credit-query.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly offer: TrialCredit
}

export function TrialCreditForm({ offer }: Props) {
  const profile = useQuery(profileQuery)
  if (profile.isPending) return <Skeleton className="h-17" />
  // A later read that fails takes nothing away from what is typed.
  if (profile.data === undefined)
    return <ErrorState error={profile.error} onRetry={() => void profile.refetch()} />
  return <Form offer={offer} hasTaxId={profile.data !== null} />
}

function Form({ offer, hasTaxId }: Props & { readonly hasTaxId: boolean }) {
  const queries = useQueryClient()
  const toast = useToast()
  const form = useRef<HTMLFormElement>(null)
  // The field stays after a refusal: the number may have been mistyped.
  const [needsTaxId] = useState(!hasTaxId)
  const take = useSubmit({
    async mutationFn(taxId: string | undefined, once) {
      if (taxId !== undefined) {
        const saved = await api.put('/me/profile', { cpf_cnpj: taxId })
        queries.setQueryData(profileQuery.queryKey, saved)
      }
      return api.post('/me/trial-credit', undefined, { once })
    },
    onSuccess(granted) {
      toast(
        t('{amountBrl} de crédito na sua conta. Bom proveito!', {
          amountBrl: brl(granted.amount_brl),
        }),
      )
      showGranted(queries, granted)
    },
    onError(error) {
      const control = form.current?.elements.namedItem(faultOf(error)?.[0] ?? '')
      if (control instanceof HTMLElement) control.focus()
    },
  })
  const fault = faultOf(take.error)
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    take.mutate(needsTaxId ? formText(new FormData(event.currentTarget), 'cpf_cnpj') : undefined)
  }
  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={() => take.isError && take.reset()}
      noValidate
      className="grid gap-3"
    >
      <div className="flex flex-wrap items-end gap-3">
        {needsTaxId && (
          <Field label={t('CPF ou CNPJ')} error={fault?.[1]} className="w-full sm:w-60">
            {(control) => (
              <MaskedInput
                {...control}
                name="cpf_cnpj"
                mask={maskTaxId}
                autoComplete="off"
                spellCheck={false}
                required
              />
            )}
          </Field>
        )}
        <Button type="submit" isBusy={take.isPending}>
          <Trans id="Ganhar {amountBrl}" values={{ amountBrl: brl(offer.amount_brl) }} />
        </Button>
      </div>
      {take.error && !fault && (
        <Notice tone="danger" role="alert">
          {explainError(take.error)}
        </Notice>
      )}
    </form>
  )
}

/** At once; the keys that waited for a balance are read again. */
function showGranted(queries: QueryClient, granted: TrialCredit): void {
  queries.setQueryData(trialCreditQuery.queryKey, granted)
  // Only an account that never had a credit gets this one.
  queries.setQueryData(
    runwayQuery.queryKey,
    (runway) => runway && { ...runway, balance_brl: granted.amount_brl },
  )
  for (const queryKey of [runwayQuery.queryKey, ['dashboard-stats'], ['usage'], API_KEYS])
    void queries.invalidateQueries({ queryKey })
}
